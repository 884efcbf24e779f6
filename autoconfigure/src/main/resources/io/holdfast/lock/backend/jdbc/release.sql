-- Releases an exclusive lock if this grant still holds it. Zero frees the lock at once,
-- because a clock might not have reached a later time.
UPDATE ${table} SET until_us = 0, owner = ''
WHERE lock_id = :id AND owner = :owner AND token = :token AND until_us > ${now} ${andLockTimeout}
