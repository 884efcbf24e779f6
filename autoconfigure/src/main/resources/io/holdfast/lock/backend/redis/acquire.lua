-- Acquires a lock that has holders or waiters. Loaded after acquire-free.lua, which
-- describes arguments and result, and queue.lua.

local owner, lease, lifetime = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local shared, fair = ARGV[6] == 'SHARED', ARGV[7] == '1'
local rest -- stays nil if nothing blocks the claim
local demanded -- stays nil unless a sticky lease blocks the claim

local function blocked(time_left)
  rest = math.max(rest or time_left, time_left)
end

-- Holders. An owner that already holds the lock has not received the response, or a
-- release has kept the lock for it: it gets the same grant again, with a new lease.
local held = redis.call('GET', KEYS[1])
if held then
  local token = token_of(owner, held)
  if token then
    if not ARGV[9] then
      redis.call('PEXPIRE', KEYS[1], lease)
      return {1, token}
    end
    -- the attempt before may have had no channel yet
    redis.call('SET', KEYS[1], value(string.format('%.0f', token)), 'PX', ARGV[2])
    return {1, token, #living(KEYS[3]) > 0 and 1 or nil}
  end
  blocked(redis.call('PTTL', KEYS[1]))
  local holder, channel = string.match(held, '^(.-):%d+|(.*)$')
  if channel then
    demand(channel, holder)
    demanded = 1
  end
end
local readers = living(KEYS[4])
for i = 1, #readers, 2 do
  local token = token_of(owner, readers[i])
  if token then
    put(KEYS[4], readers[i], now + lease)
    return {1, token}
  end
  if not shared then
    blocked(readers[i + 1] - now)
  end
end

-- Predecessors in the wait queue. Readers do not block each other. Otherwise a fair claim
-- neither overtakes nor is overtaken, no reader overtakes a writer, because readers could
-- starve it, and no writer overtakes a reader that was notified.
local waiters = queue()
local position
for _, waiter in ipairs(waiters) do
  if waiter.owner == owner then
    position = waiter.member
    break
  end
  if not (shared and waiter.shared) and (fair or waiter.fair or shared or waiter.notified) then
    blocked(waiter.ends - now)
  end
end

if rest then
  if lifetime > 0 then
    -- The claim enters the wait queue in the same step, so an immediate release finds it.
    -- Positions expire: those of a JVM that died disappear soon afterward.
    if not position then
      local last = waiters[#waiters]
      local number = math.max(micros, last and last.number + 1 or 0)
      position = table.concat({string.format('%.0f', number), ARGV[6], ARGV[7], ARGV[8],
        ARGV[9] and '1' or '0', ARGV[4], owner}, '|')
    end
    put(KEYS[3], position, now + lifetime)
  elseif position then
    remove(KEYS[3], position)
  end
  return {0, rest, micros, tonumber(redis.call('GET', KEYS[2]) or '0') or 0, demanded}
end

local token, text = next_token(ARGV[5])
if shared then
  put(KEYS[4], owner .. ':' .. text, now + lease)
else
  redis.call('SET', KEYS[1], value(text), 'PX', ARGV[2])
end
if position then
  redis.call('ZREM', KEYS[3], position)
end
return {1, token, ARGV[9] and #waiters > (position and 1 or 0) and 1 or nil}
