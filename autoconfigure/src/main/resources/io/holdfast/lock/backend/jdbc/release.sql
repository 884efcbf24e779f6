-- Releases an exclusive lock if this grant still holds it. The first waiter becomes its
-- owner for a short time, in which its next attempt is granted. Without a waiter, zero
-- frees the lock at once, because a clock might not have reached a later time. Each
-- owner's token is greater than the last one, whatever the clock shows. MariaDB assigns
-- from left to right, other databases assign all at once.
UPDATE ${table} SET until_us = CASE WHEN waiter <> '' AND waiter_until_us > ${now} THEN ${now} + :reserve ELSE 0 END,
	token = CASE WHEN waiter <> '' THEN token + 1 ELSE token END,
	owner = waiter,
	waiter = ''
WHERE lock_id = :id AND owner = :owner AND token = :token AND until_us > ${now} ${andSettings}
