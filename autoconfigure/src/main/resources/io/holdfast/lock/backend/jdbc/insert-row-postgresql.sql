-- A row for a lock that has none, be it that others bring one at the same time.
INSERT INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
VALUES (:id, :name, '', 0, 0, 0, 0)
ON CONFLICT (lock_id) DO NOTHING
