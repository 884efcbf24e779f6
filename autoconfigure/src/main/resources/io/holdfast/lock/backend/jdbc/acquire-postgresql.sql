-- Acquires the lock in one statement if it is free, expired or held by this owner. An
-- expired lease of this owner has no precedence: readers may have been admitted after it,
-- and its token may be smaller than theirs. The condition uses the row and the clock as
-- they are after any wait for the row lock.
INSERT INTO ${table} AS l (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
SELECT :id, :name, :owner, ${now}, ${now} + :lease, 0, 0
WHERE ${settings}
ON CONFLICT (lock_id) DO UPDATE SET
	token = CASE WHEN l.owner = EXCLUDED.owner AND l.until_us > ${now} THEN l.token
		ELSE GREATEST(l.token + 1, ${now}) END,
	owner = EXCLUDED.owner,
	until_us = ${now} + :lease,
	writer_until_us = 0,
	waiter = CASE WHEN l.waiter = EXCLUDED.owner THEN '' ELSE l.waiter END
WHERE (l.owner = EXCLUDED.owner AND l.until_us > ${now}) OR (l.until_us <= ${now} AND l.readers_until_us <= ${now})
RETURNING owner, token
