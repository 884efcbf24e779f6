-- Announces a claim that waits. Returns 1 if the lock is free by now or kept for this claim,
-- 2 if it has demanded a sticky lease, else 0, the first waiter, the time, and the latest token.
UPDATE ${table} SET ${waiter-columns}
WHERE lock_id = :id ${andSettings}
RETURNING CASE WHEN owner = :owner OR (until_us <= ${now} AND readers_until_us <= ${now}) THEN 1
	WHEN writer_until_us = -token THEN (SELECT 2 FROM ${demand}) ELSE 0 END, waiter, ${now}, token
