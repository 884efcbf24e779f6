-- Loaded after sets.lua and token.lua, before release.lua, and uses its KEYS and the
-- first two of its ARGV.
--
-- Notifies the next waiters if the lock is free: the writer at the head of the wait
-- queue, or all readers before the next writer. A waiter whose JVM is not subscribed
-- loses its position.
--
-- This node keeps the lock for the writer if it may: the writer becomes the owner here,
-- as if its latest attempt were granted now, for a short time and with the next token. It
-- holds the lock if a majority has granted it the same token. Otherwise it retries, and
-- so do readers: the lock is reserved for them for some milliseconds.
--
-- The attempt of the waiter may be undone at another address of this server, so the kept
-- lock has the next number. Clients use every other number.
--
-- The message is the owner, or owner|token|time of the server (us)|how long the lock is
-- kept (ms)|0, because no lease that is kept is sticky. The run id follows after a space.

local function free_lock_for(waiter)
  local node = redis.call('HMGET', KEYS[3], 'longest', 'highest', 'floor')
  local token = next_token(tonumber(redis.call('GET', KEYS[2]) or ''), node[2], node[3])
  return {token = token, millis = math.min(waiter.ends - now, waiter.kept), longest = node[1], highest = node[2]}
end

local function keep(waiter, grant, lifetime)
  raise(KEYS[3], 'longest', grant.longest, grant.millis)
  remember(KEYS[2], KEYS[3], grant.highest, grant.token, lifetime)
  hold(KEYS[1], waiter.owner, waiter.attempt + 1, grant.token, grant.millis)
end

local function reserve(waiter, millis)
  waiter.kept = 0
  queue_up(KEYS[5], 0, waiter, math.min(waiter.ends, now + millis))
end

-- Returns whether the waiter's JVM is subscribed.
local function tell(waiter, channels, millis, lifetime)
  local grant, message = nil, waiter.owner
  if waiter.kept > 0 then
    local name, run = unproven(KEYS[3], ARGV[1])
    if not name or ARGV[2] == '0' then
      grant = free_lock_for(waiter)
      message = string.format('%s|%.0f|%.0f|%.0f|0 %s', message, grant.token, micros, grant.millis, run)
    end
  end
  remove(KEYS[5], waiter.member)
  if redis.call('PUBLISH', channels .. waiter.instance, message) == 0 then
    return false
  end
  if grant then
    keep(waiter, grant, lifetime)
  else
    reserve(waiter, millis)
  end
  return true
end

local function notify(channels, millis, lifetime)
  if holder(KEYS[1]) then
    return
  end
  local _, reading = reader(KEYS[4], '')
  for _, waiter in ipairs(queue(KEYS[5])) do
    if not waiter.shared and (reading or waiter.number == 0) then
      return
    end
    local present = waiter.number == 0 or tell(waiter, channels, millis, lifetime)
    if present and not waiter.shared then
      return
    end
    reading = reading or present
  end
end

