-- Releases a lock on this node if the owner holds it, whether or not the node votes, and
-- notifies the next waiters. Loaded after node.lua, sets.lua and notify.lua.
--
-- KEYS  lock · readers · waiters
-- ARGV  1 owner · 2 last attempt to undo, or -1 for all · 3 EXCLUSIVE or SHARED
--       4 how long the claim keeps a position instead (ms), or 0 if it has ended
--       5 how long the claim has waited (ms) · 6 its instance
--       7 prefix of the notification channels
--       8 how long the lock is reserved for a notified waiter (ms), or 0 if no waiter is
--       notified
-- Returns {1} if the owner held the lock, else {0}

local last = tonumber(ARGV[2])
local found = false

local owner, attempt, _, channel = holder(KEYS[1])
if owner == ARGV[1] and (last < 0 or attempt <= last) then
  redis.call('DEL', KEYS[1])
  found = true
  if channel and channel ~= ARGV[7] .. ARGV[6] then
    -- By force from another instance: the holder's instance must not use the idle lease again.
    demand(channel, owner)
  end
end
local mine = reader(KEYS[2], ARGV[1])
if mine and (last < 0 or mine.attempt <= last) then
  remove(KEYS[2], mine.member)
  found = true
end

-- A claim that this node granted but no majority did waits like a contended claim. If the
-- grant no longer exists, it may have been released for good, so it gets no position.
local waiters = queue(KEYS[3])
local present = position(waiters, ARGV[1], true)
if ARGV[4] == '0' then
  if present then
    remove(KEYS[3], present.member)
  end
elseif found then
  enqueue(KEYS[3], present, ARGV[1], ARGV[3], ARGV[6], tonumber(ARGV[5]), tonumber(ARGV[4]))
end
if ARGV[8] ~= '0' and (#waiters > 0 or ARGV[4] ~= '0') then
  notify(KEYS[1], KEYS[2], KEYS[3], ARGV[7], tonumber(ARGV[8]))
end
return {found and 1 or 0}
