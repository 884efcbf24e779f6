-- End this node's part of a lock if it is the owner's, whether or not the node votes. (node.lua and
-- sets.lua stand before this text.)
--
-- KEYS  lock · readers · waiters
-- ARGV  1 owner · 2 the last attempt that is to be undone, or -1 for whichever it was
--       3 EXCLUSIVE or SHARED · 4 how long the claim keeps a place instead (ms), or 0 if it is over
-- gives {1} if it was the owner's, else {0}

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

-- Who was granted here and must try again elsewhere has been refused like those who wait. A part
-- that is not there any more may have been given back for good: then there is no place, either.
local mark = place(KEYS[3], ARGV[1])
if ARGV[4] == '0' then
  if mark then
    remove(KEYS[3], mark)
  end
elseif found then
  wait(KEYS[3], mark, ARGV[1], ARGV[3], tonumber(ARGV[4]))
end
return {found and 1 or 0}
