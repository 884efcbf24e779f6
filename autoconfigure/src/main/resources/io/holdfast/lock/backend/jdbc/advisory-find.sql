-- Returns the names of the sessions that hold a lock. A session without such a name has
-- just been granted the lock, and its statement has not ended yet.
SELECT a.application_name, l.mode
FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
WHERE ${held}
	AND a.application_name ~ '^holdfast [^ ]+ [0-9]+$'
