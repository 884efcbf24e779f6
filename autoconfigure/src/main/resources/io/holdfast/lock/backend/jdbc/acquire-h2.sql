-- Acquires the lock in one statement if it is free, expired or held by this owner. An
-- expired lease of this owner has no precedence: readers may have been admitted after it,
-- and its token may be smaller than theirs.
SELECT owner, token FROM FINAL TABLE (
	MERGE INTO ${table} l
	USING (SELECT CAST(:id AS VARCHAR(64)) AS lock_id, CAST(:name AS VARCHAR(255)) AS lock_name,
		CAST(:owner AS VARCHAR(36)) AS owner, CAST(:lease AS BIGINT) AS lease) c
	ON l.lock_id = c.lock_id
	WHEN MATCHED AND ((l.owner = c.owner AND l.until_us > ${now})
		OR (l.until_us <= ${now} AND l.readers_until_us <= ${now})) THEN UPDATE SET
		token = CASE WHEN l.owner = c.owner AND l.until_us > ${now} THEN l.token
			ELSE GREATEST(l.token + 1, ${now}) END,
		owner = c.owner,
		until_us = ${now} + c.lease,
		writer_until_us = 0,
		waiter = CASE WHEN l.waiter = c.owner THEN '' ELSE l.waiter END
	WHEN NOT MATCHED THEN INSERT (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
		VALUES (c.lock_id, c.lock_name, c.owner, ${now}, ${now} + c.lease, 0, 0)
)
