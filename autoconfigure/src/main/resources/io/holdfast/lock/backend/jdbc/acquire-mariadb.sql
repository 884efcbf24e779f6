-- One statement takes the lock if it is free, expired or ours, and says whose it is now. An expired lease of our own
-- is like that of anybody: readers may have been admitted after it, and its token may be smaller than theirs.
-- Assignments are carried out from left to right and see what those before them did: token and owner decide, the rest
-- follows the owner.
INSERT INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
VALUES (:id, :name, :owner, ${now}, ${now} + :lease, 0, 0)
ON DUPLICATE KEY UPDATE
	token = IF(until_us <= ${now} AND readers_until_us <= ${now}, GREATEST(token + 1, ${now}), token),
	owner = IF(until_us <= ${now}, IF(readers_until_us <= ${now}, VALUES(owner), ''), owner),
	until_us = IF(owner = VALUES(owner), ${now} + :lease, until_us),
	writer_until_us = IF(owner = VALUES(owner), 0, writer_until_us)
RETURNING owner, token
