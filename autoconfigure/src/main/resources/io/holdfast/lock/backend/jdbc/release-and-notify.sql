-- Releases an exclusive lock, and notifies waiters if there are any. Returns a row if it
-- was held. Unless the lock is kept for a waiter, waits neither for the disk nor for
-- standbys: if the database forgets the release, the lock stays closed until its lease
-- expires. No one can have acquired it then, because a commit that waits for the disk
-- includes all earlier ones. Only RETURNING sees the row after any wait for its lock. The
-- notification of a lock that is kept is id|owner|token|since when|how long (us).
${release}
RETURNING CASE WHEN until_us = 0 THEN set_config('synchronous_commit', 'off', true) END,
	CASE WHEN waiter_until_us > ${now} THEN pg_notify('${channel}', lock_id
		|| CASE WHEN until_us > 0 THEN CONCAT('|', owner, '|', token, '|', until_us - :reserve, '|', :reserve) ELSE '' END) END
