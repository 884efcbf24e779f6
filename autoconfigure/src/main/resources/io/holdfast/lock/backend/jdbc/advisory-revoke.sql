-- Ends the session that holds a lock with this owner and token, and awaits its end.
SELECT pg_terminate_backend(l.pid, :millis)
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE ${held}
	AND a.application_name = 'holdfast ' || :owner || ' ' || :token
