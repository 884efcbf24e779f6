-- Releases the advisory lock and restores the settings of the session. Returns no row if
-- this is another session, because a pooler has exchanged it.
SELECT pg_advisory_unlock${shared}(:key), set_config('application_name', :name, false),
	set_config('idle_session_timeout', :idle, false),
	set_config('client_connection_check_interval', :present, false)
WHERE current_setting('application_name') = 'holdfast ' || :owner || ' ' || :token
