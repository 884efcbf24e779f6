-- Try once to take a lock. One script, so that nothing can come between looking and taking.
-- (line.lua stands before this text.)
--
-- ARGV  1 owner · 2 lease (ms) · 3 how long a refused claim keeps its place (ms, 0: none)
--       4 instance of the claimant · 5 life of an idle token (ms) · 6 EXCLUSIVE or SHARED
--       7 1 if first come must be first served · 8 1 if PUBLISH on this server counts the claimant's instance
-- gives {1, token} if the lock is the owner's, else {0, how long it is kept out at most (ms)}

local owner, lease, patience = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local shared, fair = ARGV[6] == 'SHARED', ARGV[7] == '1'
local rest -- stays nil if nobody keeps the claim out

local function kept_out(time_left)
  rest = math.max(rest or time_left, time_left)
end

-- Those who hold it. An owner who is among them never heard our answer: it gets the same grant
-- again, with a fresh lease.
local held = redis.call('GET', KEYS[1])
if held then
  local token = token_of(owner, held)
  if token then
    redis.call('PEXPIRE', KEYS[1], lease)
    return {1, token}
  end
  kept_out(redis.call('PTTL', KEYS[1]))
end
local readers = living(KEYS[4])
for i = 1, #readers, 2 do
  local token = token_of(owner, readers[i])
  if token then
    redis.call('ZADD', KEYS[4], now + lease, readers[i])
    tidy(KEYS[4])
    return {1, token}
  end
  if not shared then
    kept_out(readers[i + 1] - now)
  end
end

-- Those who came before. Two readers never mind each other. Else a fair claim overtakes nobody and
-- is overtaken by nobody, and no reader overtakes a writer, or readers could keep it out for ever.
local waiters = line()
local place
for _, waiter in ipairs(waiters) do
  if waiter.owner == owner then
    place = waiter.place
    break
  end
  if not (shared and waiter.shared) and (fair or waiter.fair or shared) then
    kept_out(waiter.ends - now)
  end
end

if rest then
  if patience > 0 then
    -- The place is taken in the same step as the refusal, so a release that comes right after
    -- finds it. Places end by themselves: those of a JVM that died are gone soon after.
    if not place then
      local last = waiters[#waiters]
      local number = math.max(micros, last and last.number + 1 or 0)
      place = table.concat({string.format('%.0f', number), ARGV[6], ARGV[7], ARGV[8], ARGV[4], owner}, '|')
    end
    redis.call('ZADD', KEYS[3], now + patience, place)
    tidy(KEYS[3])
  elseif place then
    remove(KEYS[3], place)
  end
  return {0, rest}
end

-- The token grows with every grant while its key lives, whatever the clock does. If the key is
-- gone (idle, flushed, restarted without data), the server's time has passed it. Microseconds
-- since 1970 stay below 2^53, so a Lua number holds them exactly.
local previous = tonumber(redis.call('GET', KEYS[2]) or '0') or 0
local token = math.max(micros, previous + 1)
local text = string.format('%.0f', token)
redis.call('SET', KEYS[2], text, 'PX', ARGV[5])
if shared then
  redis.call('ZADD', KEYS[4], now + lease, owner .. ':' .. text)
  tidy(KEYS[4])
else
  redis.call('SET', KEYS[1], owner .. ':' .. text, 'PX', ARGV[2])
end
if place then
  remove(KEYS[3], place)
end
return {1, token}
