-- Let a memory count whose quarantine is over. (node.lua stands before this text.)
--
-- KEYS  node
-- ARGV  1 random · 2 name of the memory that was watched · 3 longest lease (ms) and 4 highest token
--       that are known
-- gives {1} if this memory counts now, {0} if there is another meanwhile

local name = unproven(KEYS[1], ARGV[1])
if not name then
  return {1}
end
if name ~= ARGV[2] then
  return {0}
end
-- Tokens that were given before and are forgotten here lie below the time, unless the clocks of
-- the nodes differ by more than the quarantine; those that other nodes know lie below theirs.
local time = redis.call('TIME')
local floor = math.max(time[1] * 1000000 + time[2], tonumber(ARGV[4]) + 1)
raise(KEYS[1], 'floor', redis.call('HGET', KEYS[1], 'floor'), floor)
raise(KEYS[1], 'longest', redis.call('HGET', KEYS[1], 'longest'), tonumber(ARGV[3]))
redis.call('HSET', KEYS[1], 'admitted', name)
return {1}
