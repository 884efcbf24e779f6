-- State of one lock and its wait queue. Loaded after members.lua.
--
-- KEYS  1 lock     owner:token of the exclusive holder; expires with the lease. The value
--                  of a sticky lease is owner:token|channel: its instance listens there
--       2 token    the last token granted
--       3 waiters  one position per waiter, scored by its expiry (ms)
--       4 readers  owner:token of each shared holder, scored by the end of its lease (ms)
--
-- A position is number|mode|fair|counted|sticky|instance|owner. The mode is EXCLUSIVE,
-- SHARED, or NOTIFIED for a reader that the lock is kept for. counted is 1 if PUBLISH on
-- this server counts the instance whenever it is subscribed, and 0 if it may be subscribed
-- at a replica or another node.

-- Returns owner:token of the exclusive holder, or nil.
local function exclusive()
  local held = redis.call('GET', KEYS[1])
  return held and (string.match(held, '^(.-:%d+)|') or held)
end

-- Whether the grant, owner:token, belongs to a reader whose lease has not expired.
local function reads(readers, grant)
  local ends = redis.call('ZSCORE', readers, grant)
  return ends and tonumber(ends) > now
end

-- Returns the token in owner:token or owner:token|channel if the owner matches, else nil.
local function token_of(owner, value)
  if string.sub(value, 1, #owner + 1) == owner .. ':' then
    return tonumber(string.match(value, '^%d+', #owner + 2))
  end
end

-- Returns the waiters in the order of arrival.
local function queue()
  local members, waiters = living(KEYS[3]), {}
  for i = 1, #members, 2 do
    local number, mode, fair, counted, sticky, instance, owner = string.match(members[i],
      '^(%d+)|(%a+)|(%d)|(%d)|(%d)|([^|]*)|(.*)$')
    waiters[#waiters + 1] = {
      member = members[i], ends = tonumber(members[i + 1]), number = tonumber(number),
      shared = mode ~= 'EXCLUSIVE', notified = mode == 'NOTIFIED', fair = fair == '1',
      counted = counted == '1', sticky = sticky == '1', instance = instance, owner = owner
    }
  end
  table.sort(waiters, function(a, b) return a.number < b.number end)
  return waiters
end

