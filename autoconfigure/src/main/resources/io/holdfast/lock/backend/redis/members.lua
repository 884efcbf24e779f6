-- Sorted sets whose members expire individually, each scored by its expiry (ms). Loaded
-- after clock.lua and before the scripts that use such sets.

-- Returns the members that have not expired: member, score, member, score, ...
local function living(key)
  return redis.call('ZRANGEBYSCORE', key, '(' .. now, '+inf', 'WITHSCORES')
end

-- Removes expired members, and lets the key expire with the last remaining one.
local function tidy(key)
  redis.call('ZREMRANGEBYSCORE', key, '-inf', now)
  local last = redis.call('ZRANGE', key, -1, -1, 'WITHSCORES')
  if #last > 0 then
    redis.call('PEXPIREAT', key, last[2])
  end
end

-- Adds a member, or changes when it expires.
local function put(key, member, ends)
  redis.call('ZADD', key, ends, member)
  tidy(key)
end

-- Extends a member. It tidies first: a full Redis rejects ZADD, but not in a script that
-- has already written.
local function extend(key, member, ends)
  tidy(key)
  put(key, member, ends)
end

local function remove(key, member)
  redis.call('ZREM', key, member)
  tidy(key)
end

