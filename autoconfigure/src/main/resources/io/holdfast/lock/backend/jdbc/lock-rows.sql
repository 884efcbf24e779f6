-- Locks the rows of several locks until the transaction ends, except those that a writer
-- holds or another transaction has locked. Returns the locked rows.
SELECT lock_id FROM ${table} WHERE lock_id IN (:ids) AND until_us <= ${now} ${andTransactionSettings}
FOR UPDATE SKIP LOCKED
