-- Try once to take a lock. One script, so that nothing can come between looking and taking.
--
-- KEYS  lock · token · waiters, all in one slot
-- ARGV  1 owner · 2 lease (ms) · 3 how long a refused claim keeps its place (ms, 0: none)
--       4 instance of the claimant · 5 life of an idle token (ms)
-- gives {1, token} if the lock is the owner's, else {0, remaining time of the holder (ms)}

local owner = ARGV[1]
local place = ARGV[4] .. '|' .. owner
local held = redis.call('GET', KEYS[1])

if held and string.sub(held, 1, #owner + 1) == owner .. ':' then
  -- The owner asks again because it never heard our answer: the same grant, with a fresh lease.
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1, tonumber(string.sub(held, #owner + 2))}
end

local time = redis.call('TIME')

if held then
  local patience = tonumber(ARGV[3])
  if patience > 0 then
    -- The place is taken in the same step as the refusal, so a release that comes right after
    -- finds it. Places end by themselves: those of a JVM that died are gone soon after.
    local now = time[1] * 1000 + math.floor(time[2] / 1000)
    redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
    redis.call('ZADD', KEYS[3], now + patience, place)
    local last = redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')
    redis.call('PEXPIREAT', KEYS[3], last[2])
  else
    redis.call('ZREM', KEYS[3], place)
  end
  return {0, redis.call('PTTL', KEYS[1])}
end

-- The token grows with every grant while its key lives, whatever the clock does. If the key is
-- gone (idle, flushed, restarted without data), the server's time has passed it. Microseconds
-- since 1970 stay below 2^53, so a Lua number holds them exactly.
local token = time[1] * 1000000 + time[2]
local previous = tonumber(redis.call('GET', KEYS[2]) or '0') or 0
if token <= previous then
  token = previous + 1
end
local text = string.format('%.0f', token)
redis.call('SET', KEYS[2], text, 'PX', ARGV[5])
redis.call('SET', KEYS[1], owner .. ':' .. text, 'PX', ARGV[2])
redis.call('ZREM', KEYS[3], place)
return {1, token}
