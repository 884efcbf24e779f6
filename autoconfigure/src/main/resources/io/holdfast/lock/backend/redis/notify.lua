-- Notifies the next waiters: the writer at the head of the wait queue, or all readers
-- before the next writer. Publishes nothing if there is no waiter or none may acquire.
-- Loaded after token.lua, demand.lua and queue.lua.
--
-- The lock is kept for the writer: it becomes the owner, with the next token, for at most
-- 3 s, and leaves the queue. Its lease begins with its first renewal, or with its next
-- attempt, which finds the lock its own. Notified readers keep their positions for that
-- time, and no writer overtakes them. A position whose JVM is no longer subscribed is
-- removed at once, unless that JVM may be subscribed where PUBLISH does not count it.
-- A writer receives an empty message before its grant, which counts it and means nothing: a
-- JVM that is still subscribed at a former primary, now a replica, is not counted, but
-- receives every message. It must not receive a grant that is not kept.
--
-- The message is the owner, and for a writer owner|token|time of the server (us)|how long
-- the lock is kept (ms)|1 if the lease is sticky, else 0. A sticky lease is demanded at once
-- if others wait behind it.
--
-- written: whether a writer has just released the lock, so that it has no holder

local function notify(channels, lifetime, written)
  local waiters = queue()
  if #waiters == 0 or not written and redis.call('GET', KEYS[1]) then
    return
  end
  local reading = not written and #living(KEYS[4]) > 0
  for i, waiter in ipairs(waiters) do
    if reading and not waiter.shared then
      return
    end
    local kept = math.min(waiter.ends - now, 3000)
    local channel = channels .. waiter.instance
    local gone = (waiter.shared or waiter.counted)
      and redis.call('PUBLISH', channel, waiter.shared and waiter.owner or '') == 0 and waiter.counted
    -- expired positions are left to the next claim, or to the expiry of the queue
    redis.call('ZREM', KEYS[3], waiter.member)
    if waiter.shared and not gone then
      put(KEYS[3], string.gsub(waiter.member, '|SHARED|', '|NOTIFIED|', 1), now + kept)
      reading = true
    elseif not gone then
      local text = select(2, next_token(lifetime))
      redis.call('PUBLISH', channel, table.concat({waiter.owner, text,
        string.format('%.0f', micros), kept, waiter.sticky and 1 or 0}, '|'))
      redis.call('SET', KEYS[1], waiter.owner .. ':' .. text .. (waiter.sticky and '|' .. channel or ''), 'PX', kept)
      if waiter.sticky and i < #waiters then
        demand(channel, waiter.owner)
      end
      return
    end
  end
end

