-- Stands before every script that counts on what this node remembers.
--
-- The node's hash has a name for its present memory, 'run id/random'. A restart changes the run
-- id, a flush loses the name: either way the memory gets a new name, and until a client has
-- waited as long as an earlier lock may last and has written the same name into 'admitted', this
-- node must not vote. The run id is asked for each time: a proxy may hide that the server behind
-- it is another, and a disk may bring back what an earlier run had written.
--
-- gives false if the memory counts, else its name

local function unproven(key, random)
  local run = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
  local node = redis.call('HMGET', key, 'memory', 'admitted')
  if node[1] and string.sub(node[1], 1, #run + 1) == run .. '/' then
    return node[1] ~= node[2] and node[1]
  end
  local name = run .. '/' .. random
  redis.call('HSET', key, 'memory', name)
  redis.call('HDEL', key, 'admitted')
  return name
end

-- What the key of a held lock says.
local function holder(key)
  local held = redis.call('GET', key)
  if not held then
    return nil
  end
  local owner, attempt, token = string.match(held, '^(.*):(%d+):(%d+)$')
  return owner or held, tonumber(attempt or '0'), tonumber(token or '0')
end

local function hold(key, owner, attempt, token, millis)
  redis.call('SET', key, string.format('%s:%.0f:%.0f', owner, attempt, token), 'PX', millis)
end

-- Keep a number of the node's hash at the greatest that was ever seen.
local function raise(key, field, present, value)
  if value > tonumber(present or '0') then
    redis.call('HSET', key, field, string.format('%.0f', value))
  end
end

