-- Tell the waiter whose patience ends first that the lock is free. Publishes nothing if nobody
-- waits. A place whose JVM no longer listens is skipped. On a cluster PUBLISH counts only the
-- listeners of this very node, so there its answer says nothing and the first place is taken at
-- its word: if that JVM has died, the others come by themselves when they next poll.

local function wake(waiters, channels, counted)
  local now
  while true do
    local first = redis.call('ZPOPMIN', waiters)
    if #first == 0 then
      return
    end
    if not now then
      local time = redis.call('TIME')
      now = time[1] * 1000 + math.floor(time[2] / 1000)
    end
    if tonumber(first[2]) > now then
      local bar = string.find(first[1], '|', 1, true)
      local heard = redis.call('PUBLISH', channels .. string.sub(first[1], 1, bar - 1), string.sub(first[1], bar + 1))
      if heard > 0 or not counted then
        return
      end
    end
  end
end

