UPDATE ${table} SET token = ?, owner = ?
WHERE lock_id = ? AND (token < ? OR (token = ? AND owner = ?))
