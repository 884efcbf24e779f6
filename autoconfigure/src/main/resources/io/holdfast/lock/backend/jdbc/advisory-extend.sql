-- Restarts the lease, which counts from the end of this statement. Returns no row if this
-- is another session, because a pooler has exchanged it.
SELECT set_config('idle_session_timeout', :lease, false)
WHERE current_setting('application_name') = 'holdfast ' || :owner || ' ' || :token
