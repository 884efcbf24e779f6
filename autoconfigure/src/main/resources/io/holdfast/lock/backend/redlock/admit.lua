-- Admits a memory after its quarantine. Loaded after node.lua.
--
-- KEYS  node
-- ARGV  1 random · 2 name of the observed memory · 3 longest known lease (ms)
--       4 highest known token
-- Returns {1} if this memory is admitted, {0} if the node has another memory now

local name = unproven(KEYS[1], ARGV[1])
if not name then
  return {1}
end
if name ~= ARGV[2] then
  return {0}
end
-- Tokens that this node granted and lost are below its time, unless the clocks of the
-- nodes differ by more than the quarantine. Tokens that other nodes know do not exceed
-- their highest token.
local time = redis.call('TIME')
local floor = math.max(time[1] * 1000000 + time[2], tonumber(ARGV[4]) + 1)
raise(KEYS[1], 'floor', redis.call('HGET', KEYS[1], 'floor'), floor)
raise(KEYS[1], 'longest', redis.call('HGET', KEYS[1], 'longest'), tonumber(ARGV[3]))
redis.call('HSET', KEYS[1], 'admitted', name)
return {1}
