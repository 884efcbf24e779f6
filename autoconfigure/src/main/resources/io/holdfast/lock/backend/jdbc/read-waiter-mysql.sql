-- Returns 1 if the lock is free by now or kept for this claim, else 0, and the first waiter.
SELECT CASE WHEN owner = :owner OR (until_us <= ${now} AND readers_until_us <= ${now}) THEN 1 ELSE 0 END, waiter
FROM ${table} WHERE lock_id = :id
