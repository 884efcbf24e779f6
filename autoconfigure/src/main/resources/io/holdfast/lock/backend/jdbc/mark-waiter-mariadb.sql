-- Announces a claim that waits. Returns 1 if the lock is free by now or kept for this claim,
-- else 0, and the first waiter. UPDATE has no RETURNING, so the statement inserts the
-- existing row, which updates it.
INSERT INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
VALUES (:id, :name, '', 0, 0, 0, 0)
ON DUPLICATE KEY UPDATE ${waiter-columns}
RETURNING CASE WHEN owner = :owner OR (until_us <= ${now} AND readers_until_us <= ${now}) THEN 1 ELSE 0 END, waiter
