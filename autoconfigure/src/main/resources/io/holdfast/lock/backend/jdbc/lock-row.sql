-- Locks the row of a lock until the transaction ends. Returns 1 if a writer holds the
-- lock, else 0.
SELECT CASE WHEN until_us > ${now} THEN 1 ELSE 0 END AS written FROM ${table}
WHERE lock_id = :id ${andTransactionSettings} FOR UPDATE
