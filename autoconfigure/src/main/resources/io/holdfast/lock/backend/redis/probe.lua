-- Runs every command of the other scripts at startup, on separate keys. A missing
-- permission shows here and not at the first lock.
--
-- KEYS  lock · token · waiters · readers
-- ARGV  1 any value · 2 a channel without subscribers
-- Returns {maxmemory-policy}, or {''} without a memory limit or permission for INFO

redis.call('EXISTS', KEYS[1], KEYS[3], KEYS[4])
redis.call('GET', KEYS[1])
redis.call('GET', KEYS[2])
redis.call('SET', KEYS[1], ARGV[1], 'PX', 1000)
redis.call('SET', KEYS[2], ARGV[1], 'PX', 1000)
redis.call('PEXPIRE', KEYS[1], 1000)
redis.call('PTTL', KEYS[1])
local time = redis.call('TIME')
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', 0)
-- before the key exists: if this fails, no key without an expiry remains
redis.call('PEXPIREAT', KEYS[3], (time[1] + 1) * 1000)
redis.call('ZADD', KEYS[3], 1, ARGV[1])
redis.call('PEXPIREAT', KEYS[3], (time[1] + 1) * 1000)
redis.call('ZRANGE', KEYS[3], -1, -1, 'WITHSCORES')
redis.call('ZREM', KEYS[3], ARGV[1])
redis.call('ZRANGEBYSCORE', KEYS[4], 0, '+inf', 'WITHSCORES')
redis.call('ZSCORE', KEYS[4], ARGV[1])
redis.call('PUBLISH', ARGV[2], '')
redis.call('DEL', KEYS[1])
redis.call('DEL', KEYS[2])

local info = redis.pcall('INFO', 'memory')
if type(info) ~= 'string' or string.match(info, 'maxmemory:(%d+)') == '0' then
  return {''}
end
return {string.match(info, 'maxmemory_policy:([%w-]+)') or ''}
