-- Tell those whose turn it is: the writer at the head of the line, or all readers before the next
-- writer. Publishes nothing if nobody waits or may come in. (line.lua stands before this text.)
--
-- They keep their places, so that nobody slips in before they come; but who has not come 3 s later
-- has vanished. A place whose JVM no longer listens is dropped at once, unless it may listen where PUBLISH
-- does not count it.

local function wake(channels)
  local waiters = line()
  if #waiters == 0 or redis.call('GET', KEYS[1]) then
    return
  end
  local reading = #living(KEYS[4]) > 0
  for _, waiter in ipairs(waiters) do
    if reading and not waiter.shared then
      return
    end
    local heard = redis.call('PUBLISH', channels .. waiter.instance, waiter.owner)
    if heard == 0 and waiter.counted then
      remove(KEYS[3], waiter.place)
    else
      redis.call('ZADD', KEYS[3], math.min(waiter.ends, now + 3000), waiter.place)
      tidy(KEYS[3])
      if not waiter.shared then
        return
      end
      reading = true
    end
  end
end

