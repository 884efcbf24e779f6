-- Loaded after sets.lua, before release.lua.
--
-- Notifies the next waiters if the lock is free: the writer at the head of the wait
-- queue, or all readers before the next writer. The lock is reserved for them for some
-- milliseconds. A waiter whose JVM is not subscribed loses its position.

local function notify(lock, readers, waiting, channels, millis)
  if holder(lock) then
    return
  end
  local _, reading = reader(readers, '')
  for _, waiter in ipairs(queue(waiting)) do
    if not waiter.shared and (reading or waiter.number == 0) then
      return
    end
    local present = waiter.number == 0
    if not present then
      remove(waiting, waiter.member)
      if redis.call('PUBLISH', channels .. waiter.instance, waiter.owner) > 0 then
        put(waiting, table.concat({'0', waiter.mode, waiter.instance, waiter.owner}, '|'),
          math.min(waiter.ends, now + millis))
        present = true
      end
    end
    if present and not waiter.shared then
      return
    end
    reading = reading or present
  end
end

