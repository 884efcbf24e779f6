-- End this node's part of a lock if it is the owner's, whether or not the node votes. (node.lua
-- stands before this text.)
--
-- KEYS  lock
-- ARGV  1 owner · 2 the last attempt that is to be undone, or -1 for whichever it was
-- gives {1} if it was the owner's, else {0}

local owner, attempt = holder(KEYS[1])
local last = tonumber(ARGV[2])
if owner == ARGV[1] and (last < 0 or attempt <= last) then
  redis.call('DEL', KEYS[1])
  return {1}
end
return {0}
