-- Reads the state of a lock on this node, whether or not the node votes. Loaded after
-- node.lua and sets.lua.
--
-- KEYS  lock · readers · waiters
-- Returns {1, number of waiters, then for each grant: EXCLUSIVE or SHARED, owner, token,
--         remaining lease (ms), and at the end the run id}

local answer = {1, #queue(KEYS[3])}

local function add(mode, owner, token, rest)
  answer[#answer + 1] = mode
  answer[#answer + 1] = owner
  answer[#answer + 1] = tonumber(token)
  answer[#answer + 1] = rest
end

local owner, _, token = holder(KEYS[1])
if owner then
  add('EXCLUSIVE', owner, token, redis.call('PTTL', KEYS[1]))
end
local readers = living(KEYS[2])
for i = 1, #readers, 2 do
  local reading, held = string.match(readers[i], '^(.*):%d+:(%d+)$')
  add('SHARED', reading, held, readers[i + 1] - now)
end
answer[#answer + 1] = run_id()
return answer
