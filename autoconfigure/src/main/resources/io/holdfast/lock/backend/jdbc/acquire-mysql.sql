-- Acquires the lock in one statement if it is free, expired or held by this owner, and
-- returns the token as the generated key, because UPDATE has no RETURNING; zero if the
-- claim is rejected. An expired lease of this owner has no precedence: readers may have been
-- admitted after it, and its token may be smaller than theirs. MySQL assigns from left to
-- right, so the lease is last, and before that the owner only changes if the lease has
-- expired.
UPDATE ${table} SET
	token = IF(IF(until_us <= ${now}, readers_until_us <= ${now}, owner = :owner),
		LAST_INSERT_ID(IF(until_us <= ${now}, GREATEST(token + 1, ${now}), token)), token + LAST_INSERT_ID(0)),
	owner = IF(until_us <= ${now}, IF(readers_until_us <= ${now}, :owner, ''), owner),
	writer_until_us = IF(IF(until_us <= ${now}, readers_until_us <= ${now}, owner = :owner), 0, writer_until_us),
	waiter = IF(IF(until_us <= ${now}, readers_until_us <= ${now}, owner = :owner) AND waiter = :owner, '', waiter),
	until_us = IF(IF(until_us <= ${now}, readers_until_us <= ${now}, owner = :owner), ${now} + :lease, until_us)
WHERE lock_id = :id
