-- Releases a lock if this grant still holds it, and notifies the next waiters. Loaded
-- after queue.lua and notify.lua.
--
-- ARGV  1 the grant, owner:token · 2 prefix of the notification channels
-- Returns {1} if released, {0} if the lock was free or had another owner

if redis.call('GET', KEYS[1]) == ARGV[1] then
  redis.call('DEL', KEYS[1])
elseif reads(ARGV[1]) then
  remove(KEYS[4], ARGV[1])
else
  return {0}
end
notify(ARGV[2])
return {1}
