-- Returns the holders of a lock: the writer, or the readers in the order of their tokens.
-- unwanted is 1 if no claim waits behind the writer, because none has announced itself lately.
SELECT l.owner, l.token, l.until_us - ${now} AS rest_us, 'EXCLUSIVE' AS held_as,
	CASE WHEN l.waiter_until_us <= ${now} THEN 1 ELSE 0 END AS unwanted
FROM ${table} l WHERE l.lock_id = :id AND l.until_us > ${now}
UNION ALL
SELECT r.owner, r.token, r.until_us - ${now} AS rest_us, 'SHARED' AS held_as, 0 AS unwanted
FROM ${table}_reader r WHERE r.lock_id = :id AND r.until_us > ${now}
ORDER BY 2
