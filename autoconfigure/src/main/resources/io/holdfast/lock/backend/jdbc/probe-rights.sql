-- Changes nothing, but fails unless the user may do with both tables what the other statements do.
-- MySQL and MariaDB may reject a DELETE without a condition on a key (sql_safe_updates).
INSERT INTO ${table} (lock_id, lock_name, owner, token, until_us, readers_until_us, writer_until_us, waiter,
	waiter_since_us, waiter_until_us) SELECT lock_id, lock_name, owner, token, until_us, readers_until_us,
	writer_until_us, waiter, waiter_since_us, waiter_until_us FROM ${table} WHERE 1 = 0;
UPDATE ${table} SET token = token WHERE 1 = 0;
INSERT INTO ${table}_reader (lock_id, owner, token, until_us)
	SELECT lock_id, owner, token, until_us FROM ${table}_reader WHERE 1 = 0;
UPDATE ${table}_reader SET until_us = until_us WHERE 1 = 0;
DELETE FROM ${table}_reader WHERE lock_id = ''
