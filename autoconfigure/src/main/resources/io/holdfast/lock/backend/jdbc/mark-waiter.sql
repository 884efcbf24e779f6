-- Requests a notification of the release, because a claim waits. A waiting writer also
-- blocks new readers for a while. Returns 1 if the lock is free by now, else 0.
UPDATE ${table} SET waiter_until_us = GREATEST(waiter_until_us, ${now} + :await),
	writer_until_us = CASE WHEN :writes = 1 AND readers_until_us > ${now}
		THEN GREATEST(writer_until_us, ${now} + :mark) ELSE writer_until_us END
WHERE lock_id = :id ${andLockTimeout}
RETURNING CASE WHEN until_us <= ${now} AND readers_until_us <= ${now} THEN 1 ELSE 0 END
