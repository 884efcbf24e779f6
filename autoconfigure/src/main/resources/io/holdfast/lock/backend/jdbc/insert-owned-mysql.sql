-- Acquires a lock without a row, and returns the token as the generated key. Changes
-- nothing if a concurrent transaction has inserted the row.
INSERT IGNORE INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
VALUES (:id, :name, :owner, LAST_INSERT_ID(${now}), ${now} + :lease, 0, 0)
