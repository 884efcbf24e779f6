-- Reads this node's state for all locks. Loaded after node.lua.
--
-- KEYS  node
-- ARGV  1 random
-- Returns {1 if this node votes, else 0, longest lease (ms), highest token}

local name = unproven(KEYS[1], ARGV[1])
local node = redis.call('HMGET', KEYS[1], 'longest', 'highest')
return {name and 0 or 1, tonumber(node[1] or '0'), tonumber(node[2] or '0')}
