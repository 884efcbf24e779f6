-- Tries once to acquire a lock. A single script makes check and acquisition atomic.
-- Loaded after clock.lua and token.lua. This part acquires a free lock without waiters, the usual case,
-- before it spends time on functions for holders and waiters.
--
-- KEYS  as in queue.lua
-- ARGV  1 owner · 2 lease (ms)
--       3 how long a contended claim keeps its position (ms, 0: no position)
--       4 instance of the claimant · 5 lifetime of an idle token (ms)
--       6 EXCLUSIVE or SHARED · 7 1 if the claim is fair (strict order of arrival)
--       8 1 if PUBLISH on this server counts the claimant's instance
--       9 channel of the claimant's instance; only if its lease is sticky
-- Returns {1, token} if the owner holds the lock, else {0, longest time that others block
--         the claim (ms), time of the server (us), latest token}. A further element 1 means that other
--         claims wait for a sticky lease, or that the instance with a sticky lease was
--         asked to release it

-- Returns what KEYS[1] keeps for a grant.
local function value(text)
  return ARGV[1] .. ':' .. text .. (ARGV[9] and '|' .. ARGV[9] or '')
end

if ARGV[6] == 'EXCLUSIVE' and redis.call('EXISTS', KEYS[1], KEYS[3], KEYS[4]) == 0 then
  local token, text = next_token(ARGV[5])
  redis.call('SET', KEYS[1], value(text), 'PX', ARGV[2])
  return {1, token}
end

