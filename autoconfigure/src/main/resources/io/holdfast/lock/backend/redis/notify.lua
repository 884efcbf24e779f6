-- Notifies the next waiters: the writer at the head of the wait queue, or all readers
-- before the next writer. Publishes nothing if there is no waiter or none may acquire.
-- Loaded after token.lua and queue.lua.
--
-- The lock is kept for the writer: it becomes the owner, with the next token, for at most
-- 3 s. Its lease begins with its next attempt, which finds the lock its own. Notified
-- readers keep their positions for that time, so that no other claim overtakes them. A
-- position whose JVM is no longer subscribed is removed at once, unless
-- that JVM may be subscribed where PUBLISH does not count it.

local function notify(channels, lifetime)
  local waiters = queue()
  if #waiters == 0 or redis.call('GET', KEYS[1]) then
    return
  end
  local reading = #living(KEYS[4]) > 0
  for _, waiter in ipairs(waiters) do
    if reading and not waiter.shared then
      return
    end
    local receivers = redis.call('PUBLISH', channels .. waiter.instance, waiter.owner)
    if receivers == 0 and waiter.counted then
      remove(KEYS[3], waiter.member)
    else
      local ends = math.min(waiter.ends, now + 3000)
      put(KEYS[3], waiter.member, ends)
      if not waiter.shared then
        local _, text = next_token(lifetime)
        redis.call('SET', KEYS[1], waiter.owner .. ':' .. text, 'PX', ends - now)
        return
      end
      reading = true
    end
  end
end

