-- Withdraws a claim: removes its position, and releases the lock if it was granted
-- meanwhile. Loaded after queue.lua and notify.lua.
--
-- ARGV  1 owner · 2 prefix of the notification channels · 3 lifetime of an idle token (ms)
-- Returns {1} if the claim had a position or the lock, else {0}

local owner = ARGV[1]
local found = false
for _, waiter in ipairs(queue()) do
  if waiter.owner == owner then
    remove(KEYS[3], waiter.member)
    found = true
  end
end
local held = redis.call('GET', KEYS[1])
if held and token_of(owner, held) then
  redis.call('DEL', KEYS[1])
  found = true
end
local readers = living(KEYS[4])
for i = 1, #readers, 2 do
  if token_of(owner, readers[i]) then
    remove(KEYS[4], readers[i])
    found = true
  end
end
if not found then
  return {0}
end
-- This claim may have received a notification or blocked others: notify the next waiters.
notify(ARGV[2], ARGV[3])
return {1}
