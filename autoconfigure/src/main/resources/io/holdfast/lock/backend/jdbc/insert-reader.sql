-- Inserts this owner as a reader of a lock.
INSERT INTO ${table}_reader (lock_id, owner, token, until_us)
VALUES (:id, :owner, :token, ${now} + :lease)
