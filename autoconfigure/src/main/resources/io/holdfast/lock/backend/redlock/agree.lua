-- Write the token that a majority could not agree on by itself. (node.lua stands before this text.)
--
-- KEYS  lock · token · node
-- ARGV  1 random · 2 1 if only an admitted memory counts · 3 owner · 4 token · 5 life of an idle token (ms)
-- gives {1} if this node has it now, {0} if the lock is not the owner's here or had a greater token
--       already, {-1, name of the memory} if this node does not vote

local name = ARGV[2] == '1' and unproven(KEYS[3], ARGV[1])
if name then
  return {-1, name}
end

local owner, attempt, token = holder(KEYS[1])
local agreed = tonumber(ARGV[4])
local rest = redis.call('PTTL', KEYS[1])
-- A greater token here belongs to a grant that the vote has not seen. To say yes to the smaller
-- one could give two owners the same.
if owner ~= ARGV[3] or token > agreed or rest <= 0 then
  return {0}
end
raise(KEYS[3], 'highest', redis.call('HGET', KEYS[3], 'highest'), agreed)
redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
hold(KEYS[1], owner, attempt, agreed, rest)
return {1}
