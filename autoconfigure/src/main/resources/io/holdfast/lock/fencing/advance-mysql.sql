INSERT INTO ${table} (lock_id, lock_name, token, owner) VALUES ${rows}
ON DUPLICATE KEY UPDATE owner = IF(token < VALUES(token), VALUES(owner), owner),
token = GREATEST(token, VALUES(token))
