-- Renews the leases whose owners still hold the locks, skips rows that another
-- transaction has locked, and returns the renewed leases.
WITH own AS (
	SELECT lock_id FROM ${table}
	WHERE lock_id IN (:ids) AND (lock_id, owner, token) IN (:own) AND until_us > ${now} AND (SELECT ${durable})
	FOR UPDATE SKIP LOCKED
)
UPDATE ${table} AS l SET until_us = ${now} + :lease FROM own WHERE l.lock_id = own.lock_id
RETURNING l.lock_id, l.owner
