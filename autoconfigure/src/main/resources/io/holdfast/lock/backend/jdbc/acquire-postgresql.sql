-- One statement takes the lock if it is free, expired or ours. An expired lease of our own is like that of anybody:
-- readers may have been admitted after it, and its token may be smaller than theirs. The condition is judged on the
-- row as it is when its lock has been waited for, and so is the clock.
INSERT INTO ${table} AS l (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
SELECT :id, :name, :owner, ${now}, ${now} + :lease, 0, 0 ${fromPatience}
ON CONFLICT (lock_id) DO UPDATE SET
	token = CASE WHEN l.owner = EXCLUDED.owner AND l.until_us > ${now} THEN l.token
		ELSE GREATEST(l.token + 1, ${now}) END,
	owner = EXCLUDED.owner,
	until_us = ${now} + :lease,
	writer_until_us = 0
WHERE (l.owner = EXCLUDED.owner AND l.until_us > ${now}) OR (l.until_us <= ${now} AND l.readers_until_us <= ${now})
RETURNING owner, token
