-- Renews a lease if this grant still holds the lock. Loaded after queue.lua.
--
-- ARGV  1 the grant, owner:token · 2 lease (ms)
-- Returns {1} if renewed, {0} if the lock is free or has another owner

if exclusive() == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1}
end
if reads(ARGV[1]) then
  extend(KEYS[4], ARGV[1], now + ARGV[2])
  return {1}
end
return {0}
