-- Acquires the advisory lock of this session if it is free and no session waits for it,
-- and returns the settings of the session from before, and the time. The token is taken while the lock
-- is held, and must be on the disk before it is returned. From the end of the statement
-- on, the server waits for the next one for as long as the lease lasts.
WITH session AS MATERIALIZED (
	SELECT current_setting('application_name') AS name, current_setting('idle_session_timeout') AS idle,
		COALESCE(current_setting('holdfast.tokens', true), '') = '${table}' AS ready
), attempt AS MATERIALIZED (
	SELECT name, idle, ready, CASE WHEN ready THEN pg_try_advisory_lock${shared}(:key) ELSE false END AS locked
	FROM session
), outcome AS MATERIALIZED (
	SELECT name, idle, ready, CASE WHEN locked THEN nextval('${table}_token') ELSE 0 END AS token
	FROM attempt
)
SELECT name, idle, ready, token, ${now}, ${settings}
FROM outcome
