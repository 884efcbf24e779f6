-- Inserts the row of a lock. H2 has no INSERT that ignores a concurrent duplicate.
INSERT INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
VALUES (:id, :name, '', 0, 0, 0, 0)
