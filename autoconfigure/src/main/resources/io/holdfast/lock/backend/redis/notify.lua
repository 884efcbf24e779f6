-- Notifies the next waiters: the writer at the head of the wait queue, or all readers
-- before the next writer. Publishes nothing if there is no waiter or none may acquire.
-- Loaded after queue.lua.
--
-- Notified waiters keep their positions for at most 3 s, so that no other claim overtakes
-- them meanwhile. A position whose JVM is no longer subscribed is removed at once, unless
-- that JVM may be subscribed where PUBLISH does not count it.

local function notify(channels)
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
      put(KEYS[3], waiter.member, math.min(waiter.ends, now + 3000))
      if not waiter.shared then
        return
      end
      reading = true
    end
  end
end

