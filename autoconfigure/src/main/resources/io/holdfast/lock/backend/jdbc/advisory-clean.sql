-- Releases what a canceled statement may have locked, and restores the settings.
SELECT pg_advisory_unlock_all()::text, set_config('application_name', :name, false),
	set_config('idle_session_timeout', :idle, false),
	set_config('client_connection_check_interval', :present, false)
