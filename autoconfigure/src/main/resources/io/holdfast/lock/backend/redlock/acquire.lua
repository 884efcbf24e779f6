-- Tries once to acquire a lock on this node. Loaded after node.lua, sets.lua and
-- token.lua.
--
-- KEYS  lock · token · node · readers · waiters
-- ARGV  1 random · 2 1 if only an admitted memory counts · 3 owner · 4 lease (ms)
--       5 number of the attempt · 6 lifetime of an idle token (ms)
--       7 EXCLUSIVE or SHARED
--       8 how long a contended claim keeps its position (ms, 0: no position)
--       9 how long the claim has waited (ms) · 10 its instance
--       11 how long a release may keep the lock for it (ms), or 0 if it may not
--       12 channel of its instance; only if its lease is sticky
-- Returns {1, token, longest lease (ms), 1 if the owner held it before this attempt, else
--         0, 1 if its lease is sticky and other claims wait for it, else 0, run id} if the
--         owner holds the lock here,
--         {0, remaining time (ms) or -1, longest lease (ms), blocker, 1 if the instance
--         with a sticky lease was asked to release it, else 0, time of the server (us),
--         latest token or 0, run id} if others block the claim: the owner that holds the
--         lock, 'readers' and the owners of some, or the owner of a waiter,
--         {-1, name of the memory, run id} if this node does not vote

local MOST_NAMED = 50

local name, run = unproven(KEYS[3], ARGV[1])
if name and ARGV[2] == '1' then
  return {-1, name, run}
end

local owner, lease, attempt, shared = ARGV[3], tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[7] == 'SHARED'
local node = redis.call('HMGET', KEYS[3], 'longest', 'highest', 'floor')
local longest = math.max(tonumber(node[1] or '0'), lease)
local previous = tonumber(redis.call('GET', KEYS[2]) or '')

local function grant_token()
  local token = next_token(previous, node[2], node[3])
  remember(KEYS[2], KEYS[3], node[2], token, ARGV[6])
  return token
end

local waiters = queue(KEYS[5])

-- Returns 1 if the lease is sticky and other claims wait for it, else 0.
local function wanted()
  for _, waiter in ipairs(ARGV[12] and waiters or {}) do
    if waiter.owner ~= owner then
      return 1
    end
  end
  return 0
end

-- Returns 1 if the owner's lease is older than this attempt, else 0. A server that is
-- reachable at two addresses gets the same attempt twice.
local function before(last)
  return (last < attempt or last > attempt + 1) and 1 or 0
end

local holding, last, held, channel = holder(KEYS[1])
if holding == owner then
  -- The owner retries: the same token, with a new lease.
  raise(KEYS[3], 'longest', node[1], lease)
  hold(KEYS[1], owner, math.max(last, attempt), held, ARGV[4], ARGV[12] or channel)
  return {1, held, longest, before(last), wanted(), run}
end
local mine, rest = reader(KEYS[4], owner)
if mine then
  -- The same, but other readers may have got greater tokens meanwhile. Then this node
  -- does not vote for the old token.
  raise(KEYS[3], 'longest', node[1], lease)
  local token = (mine.token == previous) and previous or grant_token()
  share(KEYS[4], mine, owner, math.max(mine.attempt, attempt), token, now + lease)
  return {1, token, longest, before(mine.attempt), 0, run}
end

-- Returns 'readers' and the owners of those that end first. A reader that has been
-- released, but is granted late, is not renewed, so it is among them.
local function readers()
  local names = {'readers'}
  for _, reader in ipairs(redis.call('ZRANGEBYSCORE', KEYS[4], '(' .. now, '+inf', 'LIMIT', 0, MOST_NAMED)) do
    names[#names + 1] = string.match(reader, '^(.*):%d+:%d+$')
  end
  return table.concat(names, ' ')
end

-- The exclusive holder blocks every claim, and readers block a writer. So do waiters
-- before it in the wait queue, as position() says.
local present, blocker = position(waiters, owner, shared)
local left = -1
local demanded = 0
if holding then
  blocker, left = holding, redis.call('PTTL', KEYS[1])
  if channel then
    demand(channel, holding)
    demanded = 1
  end
elseif rest and not shared then
  blocker, left = readers(), rest
end
if blocker then
  if ARGV[8] ~= '0' then
    local claim = {owner = owner, mode = ARGV[7], attempt = attempt, kept = tonumber(ARGV[11]), instance = ARGV[10]}
    enqueue(KEYS[5], present, claim, tonumber(ARGV[9]), tonumber(ARGV[8]))
  elseif present then
    remove(KEYS[5], present.member)
  end
  return {0, left, longest, blocker, demanded, micros, previous or 0, run}
end
if present then
  remove(KEYS[5], present.member)
end

raise(KEYS[3], 'longest', node[1], lease)
local token = grant_token()
if shared then
  share(KEYS[4], nil, owner, attempt, token, now + lease)
else
  hold(KEYS[1], owner, attempt, token, ARGV[4], ARGV[12])
end
return {1, token, longest, 0, wanted(), run}
