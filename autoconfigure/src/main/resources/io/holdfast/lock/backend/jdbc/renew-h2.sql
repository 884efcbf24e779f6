-- Renews the leases whose owners still hold the locks, skips rows that another
-- transaction has locked, and returns the renewed leases.
SELECT lock_id, owner FROM FINAL TABLE (
	MERGE INTO ${table} l USING (
		SELECT lock_id FROM ${table}
		WHERE lock_id IN (:ids) AND (lock_id, owner, token) IN (:own) AND until_us > ${now}
		FOR UPDATE SKIP LOCKED
	) own ON l.lock_id = own.lock_id
	WHEN MATCHED THEN UPDATE SET until_us = ${now} + :lease
)
