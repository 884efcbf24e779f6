-- Updates the token of a lock and when its last shared lease ends. Also removes a writer
-- whose lease has expired. An earlier statement of this writer may still wait for the row,
-- with an older time.
UPDATE ${table} SET owner = CASE WHEN until_us > ${now} THEN owner ELSE '' END,
	token = GREATEST(token, :token),
	readers_until_us = COALESCE((SELECT MAX(r.until_us) FROM ${table}_reader r WHERE r.lock_id = :id), 0)
WHERE lock_id = :id
