-- End a lease if it is still this grant's, and wake one waiter. (wake.lua stands before this text.)
--
-- KEYS  lock · token · waiters
-- ARGV  1 the lock's value, owner:token · 2 prefix of the wake channels
--       3 1 if PUBLISH counts every subscriber, 0 if only those of this node
-- gives {1} if released, {0} if the lock was gone or another's

if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
  wake(KEYS[3], ARGV[2], ARGV[3] == '1')
  return {1}
end
return {0}
