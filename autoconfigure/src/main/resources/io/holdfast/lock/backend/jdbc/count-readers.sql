-- Updates when the last shared lease of several locks ends.
UPDATE ${table} AS l ${byKey} SET readers_until_us = COALESCE(
	(SELECT MAX(r.until_us) FROM ${table}_reader r WHERE r.lock_id = l.lock_id), 0)
WHERE l.lock_id IN (:ids)
