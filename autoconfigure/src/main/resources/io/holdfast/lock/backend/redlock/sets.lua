-- Those who share a lock and those who wait for it; stands after members.lua (of
-- the room of Redis) and node.lua, before the scripts that know of them.
--
-- readers  owner:attempt:token for each who shares the lock, scored by when the lease ends (ms)
-- waiters  number|mode|owner for each who was refused and comes again, scored by when the place ends
--          (ms); numbers grow in the order of arrival at this node

-- The owner's part as a reader, or nil; and how long the others will read at most, or nil.
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

-- Let the owner read; before is its part until now, or nil.
local function share(key, before, owner, attempt, token, ends)
  if before then
    redis.call('ZREM', key, before.member)
  end
  redis.call('ZADD', key, ends, string.format('%s:%.0f:%.0f', owner, attempt, token))
  tidy(key)
end

-- The owner's place, or nil; and how long writers who came before it may wait at most, or nil.
local function place(key, owner)
  local members, places, writers = living(key), {}, nil
  for i = 1, #members, 2 do
    local number, mode, who = string.match(members[i], '^(%d+)|(%a+)|(.*)$')
    places[i / 2 + 0.5] = {
      member = members[i], number = tonumber(number), shared = mode == 'SHARED', owner = who,
      ends = tonumber(members[i + 1])
    }
  end
  table.sort(places, function(a, b) return a.number < b.number end)
  for _, candidate in ipairs(places) do
    if candidate.owner == owner then
      return candidate.member, writers
    end
    if not candidate.shared then
      writers = math.max(writers or 0, candidate.ends - now)
    end
  end
  return nil, writers
end

-- Keep the place of one who comes again, or give it one at the end of the line.
local function wait(key, present, owner, mode, millis)
  redis.call('ZADD', key, now + millis, present or string.format('%.0f|%s|%s', micros, mode, owner))
  tidy(key)
end

