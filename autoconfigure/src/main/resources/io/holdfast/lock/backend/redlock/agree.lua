-- Writes the token for a grant whose tokens differ between nodes. Loaded after node.lua
-- and sets.lua.
--
-- KEYS  lock · token · node · readers · waiters
-- ARGV  1 random · 2 1 if only an admitted memory counts · 3 owner · 4 token
--       5 lifetime of an idle token (ms)
-- Returns {1, run id} if this node has the token now,
--         {0, 0, run id} if the owner does not hold the lock here,
--         {0, t, run id} if this node has granted t meanwhile, which is not smaller,
--         {-1, name of the memory, run id} if this node does not vote

local name, run = unproven(KEYS[3], ARGV[1])
if name and ARGV[2] == '1' then
  return {-1, name, run}
end

local owner, attempt, token, channel = holder(KEYS[1])
local rest = redis.call('PTTL', KEYS[1])
local mine = reader(KEYS[4], ARGV[3])
if mine then
  token = mine.token
elseif owner ~= ARGV[3] or rest <= 0 then
  return {0, 0, run}
end

-- A node gives each token to one owner only, and its tokens only grow. A greater token
-- here belongs to a grant that the vote has not seen, of this owner or of another reader.
-- Accepting a smaller token, or the token of another reader, could give two owners the
-- same token.
local agreed = tonumber(ARGV[4])
local greatest = math.max(token, tonumber(redis.call('GET', KEYS[2]) or '') or 0)
if agreed < greatest or (agreed == greatest and token ~= agreed) then
  return {0, greatest, run}
end
raise(KEYS[3], 'highest', redis.call('HGET', KEYS[3], 'highest'), agreed)
redis.call('SET', KEYS[2], ARGV[4], 'PX', ARGV[5])
if mine then
  share(KEYS[4], mine, ARGV[3], mine.attempt, agreed, mine.ends)
else
  hold(KEYS[1], owner, attempt, agreed, rest, channel)
end
return {1, run}
