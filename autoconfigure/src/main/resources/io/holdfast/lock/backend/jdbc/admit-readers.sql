-- Updates the token of a lock and when its last shared lease ends. Ends the time in which
-- the lock is kept for this owner. Also removes a writer whose lease has expired: an
-- earlier statement of this writer may still wait for the row, with an older time.
-- MariaDB assigns from left to right, other databases assign all at once.
UPDATE ${table} SET until_us = CASE WHEN owner = :owner THEN 0 ELSE until_us END,
	owner = CASE WHEN owner <> :owner AND until_us > ${now} THEN owner ELSE '' END,
	waiter = CASE WHEN waiter = :owner THEN '' ELSE waiter END,
	token = GREATEST(token, :token),
	readers_until_us = COALESCE((SELECT MAX(r.until_us) FROM ${table}_reader r WHERE r.lock_id = :id), 0)
WHERE lock_id = :id
