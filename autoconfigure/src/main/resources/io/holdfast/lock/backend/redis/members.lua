-- Sets whose members end one by one, each scored by when it does (ms); stands before the texts that
-- keep such sets.

local micros = redis.call('TIME')
micros = micros[1] * 1000000 + micros[2]
local now = math.floor(micros / 1000)

-- What has not ended yet: member, score, member, score, ...
local function living(key)
  return redis.call('ZRANGEBYSCORE', key, '(' .. now, '+inf', 'WITHSCORES')
end

-- Forget what has ended, and let the key end with the last of the others.
local function tidy(key)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  if #last > 0 then
    redis.call('PEXPIREAT', key, last[2])
  end
end

local function remove(key, member)
  redis.call('ZREM', key, member)
  tidy(key)
end

