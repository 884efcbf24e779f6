-- Releases an exclusive lock, and notifies waiters if there are any. Returns a row if it
-- was held. Waits neither for the disk nor for standbys: if the database forgets the
-- release, the lock stays closed until its lease expires. No one can have acquired it
-- then, because a commit that waits for the disk includes all earlier ones.
${release} AND set_config('synchronous_commit', 'off', true) <> ''
RETURNING CASE WHEN waiter_until_us > ${now} THEN pg_notify('${channel}', lock_id) END
