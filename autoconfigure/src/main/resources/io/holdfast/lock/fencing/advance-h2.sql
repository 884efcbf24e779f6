MERGE INTO ${table} f USING (VALUES ${rows}) AS n(lock_id, lock_name, token, owner)
ON f.lock_id = n.lock_id
WHEN MATCHED AND (f.token < n.token OR (f.token = n.token AND f.owner = n.owner))
THEN UPDATE SET token = n.token, owner = n.owner
WHEN NOT MATCHED THEN INSERT (lock_id, lock_name, token, owner)
VALUES (n.lock_id, n.lock_name, n.token, n.owner)
