-- Waits for the advisory lock in the server's queue, and takes a token when it is granted.
WITH attempt AS MATERIALIZED (
	SELECT CASE WHEN set_config('lock_timeout', :wait, true) <> ''
		THEN pg_advisory_lock${shared}(:key)::text END AS locked
), outcome AS MATERIALIZED (
	SELECT CASE WHEN locked IS NOT NULL THEN nextval('${table}_token') ELSE 0 END AS token
	FROM attempt
)
SELECT token, ${now}, ${settings}
FROM outcome
