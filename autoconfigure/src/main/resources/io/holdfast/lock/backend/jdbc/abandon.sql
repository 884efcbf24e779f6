-- Withdraws a writer, whether it waits or holds the lock, and admits readers. Keeps the mark
-- of another owner's sticky lease.
UPDATE ${table} SET until_us = CASE WHEN owner = :owner THEN 0 ELSE until_us END,
	owner = CASE WHEN owner = :owner THEN '' ELSE owner END,
	waiter = CASE WHEN waiter = :owner THEN '' ELSE waiter END,
	writer_until_us = LEAST(writer_until_us, 0)
WHERE lock_id = :id ${andSettings}
