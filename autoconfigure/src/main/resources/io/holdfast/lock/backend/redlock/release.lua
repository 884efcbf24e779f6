-- Releases a lock on this node if the owner holds it, whether or not the node votes.
-- Loaded after node.lua and sets.lua.
--
-- KEYS  lock · readers · waiters
-- ARGV  1 owner · 2 last attempt to undo, or -1 for all · 3 EXCLUSIVE or SHARED
--       4 how long the claim keeps a position instead (ms), or 0 if it has ended
-- Returns {1} if the owner held the lock, else {0}

local last = tonumber(ARGV[2])
local found = false

local owner, attempt = holder(KEYS[1])
if owner == ARGV[1] and (last < 0 or attempt <= last) then
  redis.call('DEL', KEYS[1])
  found = true
end
local mine = reader(KEYS[2], ARGV[1])
if mine and (last < 0 or mine.attempt <= last) then
  remove(KEYS[2], mine.member)
  found = true
end

-- A claim that this node granted but no majority did waits like a contended claim. If the
-- grant no longer exists, it may have been released for good, so it gets no position.
local present = position(KEYS[3], ARGV[1])
if ARGV[4] == '0' then
  if present then
    remove(KEYS[3], present)
  end
elseif found then
  enqueue(KEYS[3], present, ARGV[1], ARGV[3], tonumber(ARGV[4]))
end
return {found and 1 or 0}
