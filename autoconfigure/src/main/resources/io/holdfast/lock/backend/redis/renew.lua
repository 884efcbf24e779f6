-- Start a lease anew if it is still this grant's. (line.lua stands before this text.)
--
-- ARGV  1 the grant, owner:token · 2 lease (ms)
-- gives {1} if renewed, {0} if the lock is gone or another's

if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1}
end
if reads(ARGV[1]) then
  -- This first: a Redis that is full refuses ZADD, but not in a script that has already written
  tidy(KEYS[4])
  redis.call('ZADD', KEYS[4], now + ARGV[2], ARGV[1])
  tidy(KEYS[4])
  return {1}
end
return {0}
