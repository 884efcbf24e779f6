-- Acquires the advisory lock of this session if it is free and no session waits for it,
-- and returns the settings of the session from before, the time, and whether another
-- connection has used the session, which a pooler then shares. The token is taken
-- while the lock is held, and must be on the disk before it is returned. From the end of
-- the statement on, the server waits for the next one for as long as the lease lasts. For a
-- claim that waits, the next statement does so: during that, the server looks each second
-- whether the client is still there, which it only can on some systems.
WITH session AS MATERIALIZED (
	SELECT current_setting('application_name') AS name, current_setting('idle_session_timeout') AS idle,
		current_setting('client_connection_check_interval') AS present,
		COALESCE(current_setting('holdfast.tokens', true), '') AS marker
), attempt AS MATERIALIZED (
	SELECT name, idle, present, marker, marker = '${table} ' || :connection AS ready,
		CASE WHEN marker = '${table} ' || :connection THEN pg_try_advisory_lock${shared}(:key) ELSE false END AS locked
	FROM session
), outcome AS MATERIALIZED (
	SELECT name, idle, present, marker, ready, CASE WHEN locked THEN nextval('${table}_token') ELSE 0 END AS token
	FROM attempt
)
SELECT name, idle, ready, token, ${now}, present, marker <> '' AND split_part(marker, ' ', 2) <> :connection, ${settings},
	CASE WHEN token = 0 AND ready AND :waits = 1 AND version() LIKE '%linux%'
		THEN set_config('client_connection_check_interval', '1s', false) END
FROM outcome
