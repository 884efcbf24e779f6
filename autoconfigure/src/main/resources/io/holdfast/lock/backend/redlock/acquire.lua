-- Try once to take this node's part of a lock. (node.lua stands before this text.)
--
-- KEYS  lock · token · node
-- ARGV  1 random · 2 1 if only an admitted memory counts · 3 owner · 4 lease (ms) · 5 number of the
--       attempt · 6 life of an idle token (ms)
-- gives {1, token, longest lease (ms), 1 if it was the owner's before} if the part is the owner's, {0, remaining time (ms), longest lease (ms)}
--       if it is another's, {-1, name of the memory} if this node does not vote

local name = ARGV[2] == '1' and unproven(KEYS[3], ARGV[1])
if name then
  return {-1, name}
end

local node = redis.call('HMGET', KEYS[3], 'longest', 'highest', 'floor')
local longest = math.max(tonumber(node[1] or '0'), tonumber(ARGV[4]))
local owner, attempt, token = holder(KEYS[1])

if owner == ARGV[3] then
  -- The owner asks again: the same token, with a fresh lease.
  raise(KEYS[3], 'longest', node[1], tonumber(ARGV[4]))
  hold(KEYS[1], owner, math.max(attempt, tonumber(ARGV[5])), token, ARGV[4])
  return {1, token, longest, 1}
end
if owner then
  return {0, redis.call('PTTL', KEYS[1]), longest}
end

-- One more than last time, so that nodes that saw the same grants agree. Where there is no
-- memory of this lock, the time stands in, and whatever this node has given for any lock. What
-- an earlier run may have forgotten lies below the floor.
local previous = tonumber(redis.call('GET', KEYS[2]) or '')
if previous then
  token = previous + 1
else
  local time = redis.call('TIME')
  token = math.max(time[1] * 1000000 + time[2], tonumber(node[2] or '0') + 1)
end
token = math.max(token, tonumber(node[3] or '0'))

raise(KEYS[3], 'longest', node[1], tonumber(ARGV[4]))
raise(KEYS[3], 'highest', node[2], token)
redis.call('SET', KEYS[2], string.format('%.0f', token), 'PX', ARGV[6])
hold(KEYS[1], ARGV[3], ARGV[5], token, ARGV[4])
return {1, token, longest, 0}
