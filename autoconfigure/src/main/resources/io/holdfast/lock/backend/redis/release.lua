-- End a lease if it is still this grant's, and wake those who may come now. (line.lua and wake.lua
-- stand before this text.)
--
-- ARGV  1 the grant, owner:token · 2 prefix of the wake channels
-- gives {1} if released, {0} if the lock was gone or another's

if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
elseif reads(ARGV[1]) then
  remove(KEYS[4], ARGV[1])
else
  return {0}
end
wake(ARGV[2])
return {1}
