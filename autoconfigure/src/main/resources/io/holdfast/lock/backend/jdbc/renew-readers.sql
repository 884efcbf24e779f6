-- Renews shared leases. Requires that the transaction has locked the rows of the locks.
UPDATE ${table}_reader ${byKey} SET until_us = ${now} + :lease
WHERE lock_id IN (:ids) AND (lock_id, owner, token) IN (:own)
