-- Withdraw a claim: its place, and the lock if it was granted meanwhile. (wake.lua stands before
-- this text.)
--
-- KEYS  lock · token · waiters
-- ARGV  1 owner · 2 prefix of the wake channels
--       3 1 if PUBLISH counts every subscriber, 0 if only those of this node
--       4 instance of the claimant
-- gives {1} if the lock was the claim's, else {0}

local owner = ARGV[1]
redis.call('ZREM', KEYS[3], ARGV[4] .. '|' .. owner)

local held = redis.call('GET', KEYS[1])
local ours = held and string.sub(held, 1, #owner + 1) == owner .. ':'
if ours then
  redis.call('DEL', KEYS[1])
end
if ours or not held then
  -- The lock is free. A wake-up may have gone to this very claim; pass it on.
  wake(KEYS[3], ARGV[2], ARGV[3] == '1')
end
return {ours and 1 or 0}
