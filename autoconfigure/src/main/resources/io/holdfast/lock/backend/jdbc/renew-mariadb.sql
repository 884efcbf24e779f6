-- Renews the leases whose owners still hold the locks, skips rows that another
-- transaction has locked, and returns the renewed leases. UPDATE has no RETURNING, so the
-- statement inserts existing rows, which updates them.
INSERT INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
SELECT own.* FROM (
	SELECT lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us FROM ${table} ${byKey}
	WHERE lock_id IN (:ids) AND (lock_id, owner, token) IN (:own) AND until_us > ${now}
	FOR UPDATE SKIP LOCKED
) own
ON DUPLICATE KEY UPDATE until_us = ${now} + :lease
RETURNING lock_id, owner
