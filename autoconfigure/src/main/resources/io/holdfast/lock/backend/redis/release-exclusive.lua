-- Releases a lock if this grant still holds it, and notifies the next waiters. This part
-- releases an exclusive lock, and ends the script if there are no waiters, before it spends
-- time on functions for readers and waiters.
--
-- KEYS  as in queue.lua
-- ARGV  1 the grant, owner:token · 2 prefix of the notification channels
--       3 lifetime of an idle token (ms) · 4 the instance that asks
-- Returns {1} if released, {0} if the lock was free or had another owner

local held = redis.call('GET', KEYS[1])
-- the value of a sticky lease also has a channel
local released = held == ARGV[1] or (held and string.sub(held, 1, #ARGV[1] + 1) == ARGV[1] .. '|')
if released then
  redis.call('DEL', KEYS[1])
  if held ~= ARGV[1] then
    -- By force from another instance: the holder's instance must not use the idle lease again.
    local owner, channel = string.match(held, '^(.-):%d+|(.*)$')
    if channel ~= ARGV[2] .. ARGV[4] then
      redis.call('PUBLISH', channel, 'wanted:' .. owner)
    end
  end
  if redis.call('EXISTS', KEYS[3]) == 0 then
    return {1}
  end
end

