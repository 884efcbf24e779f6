-- Announces a claim that waits.
UPDATE ${table} SET ${waiter-columns}
WHERE lock_id = :id
