-- Inserts the row of a lock, unless a concurrent transaction has inserted it.
INSERT IGNORE INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
VALUES (:id, :name, '', 0, 0, 0, 0)
