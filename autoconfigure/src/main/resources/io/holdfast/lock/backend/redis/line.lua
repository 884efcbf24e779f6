-- What the scripts know of one lock; stands after members.lua, before their texts.
--
-- KEYS  1 lock     owner:token of the one who holds it alone; ends with the lease
--       2 token    the last token that was given
--       3 waiters  a place for each who waits, scored by when it ends (ms)
--       4 readers  owner:token for each who shares the lock, scored by when the lease ends (ms)
--
-- A place is number|mode|fair|counted|instance|owner. Numbers grow in the order of arrival; counted is 1 if PUBLISH
-- on this server counts the instance whenever it listens, and 0 if it may listen on a replica or another node.

-- Whether the grant, owner:token, is that of a reader whose lease has not ended.
local function reads(grant)
  local ends = redis.call('ZSCORE', KEYS[4], grant)
  return ends and tonumber(ends) > now
end

-- The token in owner:token if it is this owner's, else nil.
local function token_of(owner, value)
  if string.sub(value, 1, #owner + 1) == owner .. ':' then
    return tonumber(string.sub(value, #owner + 2))
  end
end

-- Those who wait, in the order of their arrival.
local function line()
  local places, waiters = living(KEYS[3]), {}
  for i = 1, #places, 2 do
    local number, mode, fair, counted, instance, owner =
      string.match(places[i], '^(%d+)|(%a+)|(%d)|(%d)|([^|]*)|(.*)$')
    waiters[#waiters + 1] = {
      place = places[i], ends = tonumber(places[i + 1]), number = tonumber(number),
      shared = mode == 'SHARED', fair = fair == '1', counted = counted == '1', instance = instance, owner = owner
    }
  end
  table.sort(waiters, function(a, b) return a.number < b.number end)
  return waiters
end

