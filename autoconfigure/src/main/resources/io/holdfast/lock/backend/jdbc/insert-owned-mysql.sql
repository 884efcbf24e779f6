-- Acquires a lock without a row. Changes nothing if a concurrent transaction has inserted it.
INSERT IGNORE INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
VALUES (:id, :name, :owner, ${now}, ${now} + :lease, 0, 0)
