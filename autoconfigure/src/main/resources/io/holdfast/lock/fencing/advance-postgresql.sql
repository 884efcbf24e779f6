INSERT INTO ${table} AS f (lock_id, lock_name, token, owner) VALUES ${rows}
ON CONFLICT (lock_id) DO UPDATE SET token = EXCLUDED.token, owner = EXCLUDED.owner
WHERE f.token < EXCLUDED.token OR (f.token = EXCLUDED.token AND f.owner = EXCLUDED.owner)
