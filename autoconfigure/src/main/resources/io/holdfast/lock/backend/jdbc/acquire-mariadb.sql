-- Acquires the lock in one statement if it is free, expired or held by this owner, and
-- returns the present owner. An expired lease of this owner has no precedence: readers
-- may have been admitted after it, and its token may be smaller than theirs. Depending on
-- sql_mode, assignments see earlier ones or not, so none of them depends on that: the lease
-- is last, and before that the owner only changes if the lease has expired.
INSERT INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us)
VALUES (:id, :name, :owner, ${now}, ${now} + :lease, 0, 0)
ON DUPLICATE KEY UPDATE
	token = IF(until_us <= ${now} AND readers_until_us <= ${now}, GREATEST(token + 1, ${now}), token),
	owner = IF(until_us <= ${now}, IF(readers_until_us <= ${now}, VALUES(owner), ''), owner),
	writer_until_us = IF(IF(until_us <= ${now}, readers_until_us <= ${now}, owner = VALUES(owner)), 0, writer_until_us),
	waiter = IF(IF(until_us <= ${now}, readers_until_us <= ${now}, owner = VALUES(owner)) AND waiter = VALUES(owner),
		'', waiter),
	until_us = IF(IF(until_us <= ${now}, readers_until_us <= ${now}, owner = VALUES(owner)), ${now} + :lease, until_us)
RETURNING owner, token
