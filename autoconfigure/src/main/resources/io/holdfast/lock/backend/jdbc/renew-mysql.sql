-- Renews the leases whose owners still hold the locks, and skips rows that another
-- transaction has locked. UPDATE cannot skip rows, so the statement inserts existing rows,
-- which updates them, and each of them counts twice. With the limit, which is never
-- reached, the rows are read before any of them is inserted.
INSERT INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
SELECT own.* FROM (
	SELECT lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us FROM ${table} ${byKey}
	WHERE lock_id IN (:ids) AND (lock_id, owner, token) IN (:own) AND until_us > ${now}
	LIMIT 1000 FOR UPDATE SKIP LOCKED
) own
ON DUPLICATE KEY UPDATE until_us = ${now} + :lease
