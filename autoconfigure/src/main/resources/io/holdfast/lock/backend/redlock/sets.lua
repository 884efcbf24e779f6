-- Shared holders of a lock and its wait queue. Loaded after members.lua (of the package
-- redis) and node.lua, before the scripts that use them.
--
-- readers  owner:attempt:token of each shared holder, scored by the end of its lease (ms)
-- waiters  number|mode|owner of each claim that will retry, scored by the expiry of its
--          position (ms)

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

-- Returns the owner's position, or nil, and the longest remaining life of the positions
-- of writers before it (ms), or nil.
local function position(key, owner)
  local writers
  for _, waiter in ipairs(positions(key)) do
    if waiter.rest == owner then
      return waiter.member, writers
    end
    if not waiter.shared then
      writers = math.max(writers or 0, waiter.ends - now)
    end
  end
  return nil, writers
end

-- Extends the position of a waiter, or adds one at the end of the wait queue.
local function enqueue(key, present, owner, mode, millis)
  put(key, present or string.format('%.0f|%s|%s', micros, mode, owner), now + millis)
end

