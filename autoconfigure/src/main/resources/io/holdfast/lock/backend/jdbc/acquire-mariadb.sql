-- Acquires the lock in one statement if it is free, expired or held by this owner, and
-- returns the present owner. An expired lease of this owner has no precedence: readers
-- may have been admitted after it, and its token may be smaller than theirs. Assignments
-- run from left to right and see earlier ones: token and owner decide, and the other
-- columns follow the owner.
INSERT INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
VALUES (:id, :name, :owner, ${now}, ${now} + :lease, 0, 0)
ON DUPLICATE KEY UPDATE
	token = IF(until_us <= ${now} AND readers_until_us <= ${now}, GREATEST(token + 1, ${now}), token),
	owner = IF(until_us <= ${now}, IF(readers_until_us <= ${now}, VALUES(owner), ''), owner),
	until_us = IF(owner = VALUES(owner), ${now} + :lease, until_us),
	writer_until_us = IF(owner = VALUES(owner), 0, writer_until_us),
	waiter = IF(owner = VALUES(owner) AND waiter = VALUES(owner), '', waiter)
RETURNING owner, token
