-- Advances the sequence to the time of the database, once for each session. After a crash
-- or a failover, the sequence may lack its last values, but all sessions are new, and the
-- tokens before were smaller than the time. Sessions advance it one after another. A
-- sequence that is less than 100 ms behind stays: more than 100000 tokens would have to
-- be granted between the comparison and the change to set it back.
SELECT set_config('lock_timeout', :timeout, true),
	CASE WHEN current_setting('synchronous_commit') = 'off'
		THEN set_config('synchronous_commit', 'local', true) END,
	CASE WHEN pg_advisory_xact_lock(hashtextextended('${table}_token', 0))::text = ''
		THEN CASE WHEN COALESCE(pg_sequence_last_value('${table}_token'), 0) < ${now} - 100000
			THEN setval('${table}_token', ${now}) END END,
	set_config('holdfast.tokens', '${table} ' || :connection, false)
