CASE WHEN token > 0 THEN set_config('application_name', 'holdfast ' || :owner || ' ' || token, false) END,
	CASE WHEN token > 0 THEN set_config('idle_session_timeout', :lease, false) END,
	CASE WHEN token > 0 AND current_setting('synchronous_commit') = 'off'
		THEN set_config('synchronous_commit', 'local', true) END
