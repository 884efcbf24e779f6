-- Releases a lock on this node if the owner holds it, whether or not the node votes, and
-- notifies the next waiters. Loaded after node.lua, sets.lua, token.lua and notify.lua.
--
-- KEYS  lock · token · node · readers · waiters
-- ARGV  1 random · 2 1 if only an admitted memory counts · 3 owner
--       4 last attempt to undo, or -1 for all · 5 EXCLUSIVE or SHARED
--       6 how long the claim keeps a position instead (ms), or 0 if it has ended
--       7 how long the claim has waited (ms) · 8 its instance
--       9 prefix of the notification channels
--       10 how long the lock is reserved for a notified waiter (ms), or 0 if no waiter is
--       notified
--       11 lifetime of an idle token (ms)
-- Returns {1} if the owner held the lock, else {0}

local last = tonumber(ARGV[4])
local found = false

local owner, attempt, _, channel = holder(KEYS[1])
if owner == ARGV[3] and (last < 0 or attempt <= last) then
  redis.call('DEL', KEYS[1])
  found = true
  if channel and channel ~= ARGV[9] .. ARGV[8] then
    -- By force from another instance: the holder's instance must not use the idle lease again.
    demand(channel, owner)
  end
end
local mine = reader(KEYS[4], ARGV[3])
if mine and (last < 0 or mine.attempt <= last) then
  remove(KEYS[4], mine.member)
  found = true
end

-- A claim that this node granted but no majority did waits like a contended claim. If the
-- grant no longer exists, it may have been released for good, so it gets no position.
local waiters = queue(KEYS[5])
local present = position(waiters, ARGV[3], true)
if ARGV[6] == '0' then
  if present then
    remove(KEYS[5], present.member)
  end
elseif found then
  -- the client has no rejection of this attempt, so it would not count a kept lock
  local claim = {owner = ARGV[3], mode = ARGV[5], attempt = math.max(last, 0), kept = 0, instance = ARGV[8]}
  enqueue(KEYS[5], present, claim, tonumber(ARGV[7]), tonumber(ARGV[6]))
end
if ARGV[10] ~= '0' and (#waiters > 0 or ARGV[6] ~= '0') then
  notify(ARGV[9], tonumber(ARGV[10]), ARGV[11])
end
return {found and 1 or 0}
