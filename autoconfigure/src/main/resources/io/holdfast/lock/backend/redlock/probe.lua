-- Runs every command of the other scripts at the first connection, on separate keys. A
-- missing permission shows here and not at the first lock. The quarantine of a new memory
-- starts here. Loaded after node.lua and sets.lua.
--
-- KEYS  lock · token · node · readers · waiters
-- ARGV  1 random · 2 a channel without subscribers
-- Returns {run id, name of the memory if it is not admitted, else '', maxmemory-policy or
--         '' if Redis never evicts keys}

local name, run = unproven(KEYS[3], ARGV[1])
raise(KEYS[3], 'highest', redis.call('HGET', KEYS[3], 'highest'), 0)
hold(KEYS[1], ARGV[1], 0, 0, 1000)
holder(KEYS[1])
redis.call('PTTL', KEYS[1])
redis.call('PEXPIRE', KEYS[1], 1000)
redis.call('SET', KEYS[2], '0', 'PX', 1000)
redis.call('DEL', KEYS[1])
redis.call('DEL', KEYS[2])
-- before the sets exist: if one of these fails, no key without an expiry remains
redis.call('PEXPIREAT', KEYS[4], now + 1000)
redis.call('ZRANGE', KEYS[4], -1, -1, 'WITHSCORES')
share(KEYS[4], nil, ARGV[1], 0, 0, now + 1000)
local mine = reader(KEYS[4], ARGV[1])
remove(KEYS[4], mine.member)
enqueue(KEYS[5], nil, {owner = ARGV[1], mode = 'SHARED', attempt = 0, kept = 0, instance = ''}, 0, 1000)
remove(KEYS[5], queue(KEYS[5])[1].member)
redis.call('PUBLISH', ARGV[2], '')

local memory = redis.call('INFO', 'memory')
local policy = string.match(memory, 'maxmemory_policy:([%w-]+)') or ''
if string.match(memory, 'maxmemory:(%d+)') == '0' or policy == 'noeviction' then
  policy = ''
end
return {run, name or '', policy}
