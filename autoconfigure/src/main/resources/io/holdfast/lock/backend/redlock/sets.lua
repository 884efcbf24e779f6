-- Shared holders of a lock and its wait queue. Loaded after members.lua (of the package
-- redis) and node.lua, before the scripts that use them.
--
-- readers  owner:attempt:token of each shared holder, scored by the end of its lease (ms)
-- waiters  number|mode|attempt|kept|instance|owner of each claim that will retry, scored
--          by the expiry of its position (ms): the number of its latest attempt, and how
--          long a release may keep the lock for it (ms)
--
-- The number is the time since which the claim waits, by this node's clock, in steps. All
-- nodes must agree on the order, or no claim gets a majority, so the owner ids order the
-- claims of one step. A waiter that was notified has the number 0 until it retries: the
-- lock is reserved for it until its position expires. A reservation is never a vote.

local STEP_MILLIS = 50

-- Returns the owner's entry as a reader, or nil, and the longest remaining lease of the
-- other readers (ms), or nil.
local function reader(key, owner)
  local parts, mine, others = living(key), nil, nil
  for i = 1, #parts, 2 do
    local who, attempt, token = string.match(parts[i], '^(.*):(%d+):(%d+)$')
    if who == owner then
      mine = {member = parts[i], attempt = tonumber(attempt), token = tonumber(token), ends = tonumber(parts[i + 1])}
    else
      others = math.max(others or 0, parts[i + 1] - now)
    end
  end
  return mine, others
end

-- Adds the owner as a reader; before is its previous entry, or nil.
local function share(key, before, owner, attempt, token, ends)
  if before then
    redis.call('ZREM', key, before.member)
  end
  put(key, string.format('%s:%.0f:%.0f', owner, attempt, token), ends)
end

-- Returns the waiters in their order.
local function queue(key)
  local members, waiters = living(key), {}
  for i = 1, #members, 2 do
    local number, mode, attempt, kept, instance, owner = string.match(members[i],
      '^(%d+)|(%a+)|(%d+)|(%d+)|([^|]*)|(.*)$')
    waiters[#waiters + 1] = {
      member = members[i], ends = tonumber(members[i + 1]), number = tonumber(number), shared = mode == 'SHARED',
      mode = mode, attempt = tonumber(attempt), kept = tonumber(kept), instance = instance, owner = owner
    }
  end
  table.sort(waiters, function(a, b)
    if a.number ~= b.number then
      return a.number < b.number
    end
    return a.owner < b.owner
  end)
  return waiters
end

-- Returns the owner's entry in the wait queue, or nil, and the owner of the first waiter
-- that blocks it, or nil. Notified waiters block every claim, but readers do not block
-- readers. Writers that wait also block readers behind them.
local function position(waiters, owner, shared)
  local blocker
  for _, waiter in ipairs(waiters) do
    if waiter.owner == owner then
      return waiter, blocker
    end
    if not (shared and waiter.shared) and (shared or waiter.number == 0) then
      blocker = blocker or waiter.owner
    end
  end
  return nil, blocker
end

-- Adds a position as a member of the wait queue.
local function queue_up(key, number, claim, ends)
  put(key, string.format('%.0f|%s|%.0f|%.0f|%s|%s', number, claim.mode, claim.attempt, claim.kept, claim.instance,
    claim.owner), ends)
end

-- Adds a position, or extends it. Of several numbers of a claim, the smallest is the most
-- precise: it was late by the shortest travel of a request.
local function enqueue(key, present, claim, waited, millis)
  local number = math.max(1, math.floor((now - waited) / STEP_MILLIS))
  if present then
    number = present.number > 0 and math.min(number, present.number) or number
    claim.attempt = math.max(claim.attempt, present.attempt)
    redis.call('ZREM', key, present.member)
  end
  queue_up(key, number, claim, now + millis)
end

