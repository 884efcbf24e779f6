-- A row for a lock that has none. H2 has no insertion that overlooks another one of the same moment.
INSERT INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
VALUES (:id, :name, '', 0, 0, 0, 0)
