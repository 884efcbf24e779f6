-- Acquires the lock if it has a row and is free, at less cost than the statement for all
-- cases, which follows otherwise.
SELECT owner, token FROM FINAL TABLE (
	UPDATE ${table} SET
		token = GREATEST(token + 1, ${now}),
		owner = :owner,
		until_us = ${now} + :lease,
		writer_until_us = 0,
		waiter = CASE WHEN waiter = :owner THEN '' ELSE waiter END
	WHERE lock_id = :id AND until_us <= ${now} AND readers_until_us <= ${now}
)
