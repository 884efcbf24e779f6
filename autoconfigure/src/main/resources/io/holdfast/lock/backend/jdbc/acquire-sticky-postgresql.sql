-- Acquires the lock like acquire-postgresql.sql. While the lease is sticky, writer_until_us
-- is the negative token. So the mark ends with the lease: its release keeps the lock for a
-- waiter with another token. Returns the negative token if other claims wait: there is a
-- first waiter, or this claim has waited itself and others may have done so behind it.
INSERT INTO ${table} AS l (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
SELECT :id, :name, :owner, t.now_us, ${now} + :lease, 0, -t.now_us FROM (SELECT ${now} AS now_us) t
WHERE ${settings}
ON CONFLICT (lock_id) DO UPDATE SET
	token = CASE WHEN l.owner = EXCLUDED.owner AND l.until_us > ${now} THEN l.token
		ELSE GREATEST(l.token + 1, EXCLUDED.token) END,
	owner = EXCLUDED.owner,
	until_us = ${now} + :lease,
	writer_until_us = -CASE WHEN l.owner = EXCLUDED.owner AND l.until_us > ${now} THEN l.token
		ELSE GREATEST(l.token + 1, EXCLUDED.token) END,
	waiter = CASE WHEN l.waiter = EXCLUDED.owner THEN '' ELSE l.waiter END
WHERE (l.owner = EXCLUDED.owner AND l.until_us > ${now}) OR (l.until_us <= ${now} AND l.readers_until_us <= ${now})
RETURNING owner, CASE WHEN waiter_until_us > ${now} AND (waiter <> '' OR :waited > 0) THEN -token ELSE token END AS token
