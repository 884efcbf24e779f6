-- Loaded before every script that relies on this node's memory.
--
-- Returns the run id of the server. It is part of every vote, so that a server that is
-- reachable at two addresses votes once.
local function run_id()
  return string.match(redis.call('INFO', 'server'), 'run_id:(%x+)')
end

-- The node's hash contains the name of its current memory, 'run id/random'. A restart
-- changes the run id, and a flush deletes the name: in both cases the memory gets a new
-- name. This node must not vote until a client has waited as long as an earlier lock may
-- last and has written the same name to 'admitted'. Every request reads the run id: a
-- proxy may switch to another server, and a disk may restore data of an earlier run.
--
-- A node that was a replica has the data of its master instead of its own. They may
-- contain its name if that master was a replica of this node before. So the hash also
-- contains the second replication id, which changes with each promotion to a master. It
-- becomes zero when the backlog of the replication starts or ends, which changes no data.
--
-- Returns false if the memory is admitted, else its name, and the run id

local function unproven(key, random)
  local run = run_id()
  local replication = redis.call('INFO', 'replication')
  if not string.find(replication, 'role:master', 1, true) then
    -- fails with READONLY, unless the replica accepts writes
    redis.call('HDEL', key, 'admitted')
    error('this Redis is a replica and must not vote')
  end
  local promoted = string.match(replication, 'master_replid2:(%x+)') or '0'
  local node = redis.call('HMGET', key, 'memory', 'admitted', 'promoted')
  local same = promoted == node[3] or string.match(promoted, '^0+$')
  if same and node[1] and string.sub(node[1], 1, #run + 1) == run .. '/' then
    return node[1] ~= node[2] and node[1], run
  end
  local name = run .. '/' .. random
  redis.call('HSET', key, 'memory', name, 'promoted', promoted)
  redis.call('HDEL', key, 'admitted')
  return name, run
end

-- Returns owner, attempt and token of the exclusive holder, and the channel of its
-- instance if its lease is sticky, or nil.
local function holder(key)
  local held = redis.call('GET', key)
  if not held then
    return nil
  end
  local grant, channel = string.match(held, '^(.-)|(.*)$')
  local owner, attempt, token = string.match(grant or held, '^(.*):(%d+):(%d+)$')
  return owner or held, tonumber(attempt or '0'), tonumber(token or '0'), channel
end

-- Sets the exclusive holder; channel is nil unless its lease is sticky.
local function hold(key, owner, attempt, token, millis, channel)
  local grant = string.format('%s:%.0f:%.0f', owner, attempt, token)
  redis.call('SET', key, grant .. (channel and '|' .. channel or ''), 'PX', millis)
end

-- Raises a number in the node's hash if the value is greater.
local function raise(key, field, present, value)
  if value > tonumber(present or '0') then
    redis.call('HSET', key, field, string.format('%.0f', value))
  end
end

