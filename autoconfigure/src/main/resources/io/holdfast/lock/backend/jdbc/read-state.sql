-- Returns what decides whether this owner may become a reader. Requires that the
-- transaction has locked the row of the lock. A lock that is kept for this owner is not
-- written, and no other writer precedes it. A writer that waits marks the lock for :mark;
-- a later end of the mark is from before the clock moved back. PostgreSQL demands a sticky
-- lease of a writer, which is then written = 2.
SELECT l.token, r.token AS own, ${now} AS now_us,
	CASE WHEN l.until_us > ${now} AND l.owner <> :owner THEN ${written} ELSE 0 END AS written,
	CASE WHEN l.writer_until_us > ${now} AND l.writer_until_us <= ${now} + :mark AND l.owner <> :owner
		THEN 1 ELSE 0 END AS wanted,
	CASE WHEN l.owner = :owner THEN 1 ELSE 0 END AS kept
FROM ${table} l LEFT JOIN ${table}_reader r
	ON r.lock_id = l.lock_id AND r.owner = :owner AND r.until_us > ${now}
WHERE l.lock_id = :id
