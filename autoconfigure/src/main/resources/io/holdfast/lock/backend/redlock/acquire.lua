-- Tries once to acquire a lock on this node. Loaded after node.lua and sets.lua.
--
-- KEYS  lock · token · node · readers · waiters
-- ARGV  1 random · 2 1 if only an admitted memory counts · 3 owner · 4 lease (ms)
--       5 number of the attempt · 6 lifetime of an idle token (ms)
--       7 EXCLUSIVE or SHARED
--       8 how long a contended claim keeps its position (ms, 0: no position)
--       9 how long the claim has waited (ms) · 10 its instance
--       11 channel of its instance; only if its lease is sticky
-- Returns {1, token, longest lease (ms), 1 if the owner already held it, else 0} if the
--         owner holds the lock here,
--         {0, remaining time (ms) or -1, longest lease (ms), blocker} if others block the
--         claim: the owner that holds the lock, 'readers', or the owner of a waiter,
--         {-1, name of the memory} if this node does not vote
--         A fifth element 1 means that other claims wait for a sticky lease, or that the
--         instance with a sticky lease was asked to release it

local name = ARGV[2] == '1' and unproven(KEYS[3], ARGV[1])
if name then
  return {-1, name}
end

local owner, lease, attempt, shared = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[7] == 'SHARED'
local node = redis.call('HMGET', KEYS[3], 'longest', 'highest', 'floor')
local longest = math.max(tonumber(node[1] or '0'), lease)
local previous = tonumber(redis.call('GET', KEYS[2]) or '')

-- Returns the previous token plus one, so that nodes that saw the same grants agree. If
-- this lock has no previous token, the server's time and the highest token of any lock on
-- this node replace it. Tokens that an earlier run may have lost are below the floor.
local function next_token()
  local token = previous and previous + 1 or math.max(micros, tonumber(node[2] or '0') + 1)
  token = math.max(token, tonumber(node[3] or '0'))
  raise(KEYS[3], 'highest', node[2], token)
  redis.call('SET', KEYS[2], string.format('%.0f', token), 'PX', ARGV[6])
  return token
end

local waiters = queue(KEYS[5])

-- Returns 1 if the lease is sticky and other claims wait for it, else nil.
local function wanted()
  for _, waiter in ipairs(ARGV[11] and waiters or {}) do
    if waiter.owner ~= owner then
      return 1
    end
  end
end

local holding, last, held, channel = holder(KEYS[1])
if holding == owner then
  -- The owner retries: the same token, with a new lease.
  raise(KEYS[3], 'longest', node[1], lease)
  hold(KEYS[1], owner, math.max(last, attempt), held, ARGV[4], ARGV[11] or channel)
  return {1, held, longest, 1, wanted()}
end
local mine, rest = reader(KEYS[4], owner)
if mine then
  -- The same, but other readers may have got greater tokens meanwhile. Then this node
  -- does not vote for the old token.
  raise(KEYS[3], 'longest', node[1], lease)
  local token = (mine.token == previous) and previous or next_token()
  share(KEYS[4], mine, owner, math.max(mine.attempt, attempt), token, now + lease)
  return {1, token, longest, 1}
end

-- The exclusive holder blocks every claim, and readers block a writer. So do waiters
-- before it in the wait queue, as position() says.
local present, blocker = position(waiters, owner, shared)
local left = -1
local demanded -- stays nil unless a sticky lease blocks the claim
if holding then
  blocker, left = holding, redis.call('PTTL', KEYS[1])
  if channel then
    demand(channel, holding)
    demanded = 1
  end
elseif rest and not shared then
  blocker, left = 'readers', rest
end
if blocker then
  if ARGV[8] ~= '0' then
    enqueue(KEYS[5], present, owner, ARGV[7], ARGV[10], tonumber(ARGV[9]), tonumber(ARGV[8]))
  elseif present then
    remove(KEYS[5], present.member)
  end
  return {0, left, longest, blocker, demanded}
end
if present then
  remove(KEYS[5], present.member)
end

raise(KEYS[3], 'longest', node[1], lease)
local token = next_token()
if shared then
  share(KEYS[4], nil, owner, attempt, token, now + lease)
else
  hold(KEYS[1], owner, attempt, token, ARGV[4], ARGV[11])
end
return {1, token, longest, 0, wanted()}
