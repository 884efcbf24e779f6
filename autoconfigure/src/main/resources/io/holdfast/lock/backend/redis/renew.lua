-- Start a lease anew if it is still this grant's.
--
-- KEYS  lock · token · waiters
-- ARGV  1 the lock's value, owner:token · 2 lease (ms)
-- gives {1} if renewed, {0} if the lock is gone or another's

if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1}
end
return {0}
