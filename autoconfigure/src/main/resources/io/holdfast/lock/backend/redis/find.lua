-- Reads the state of a lock. Loaded after queue.lua.
--
-- Returns {number of waiters, then for each holder: EXCLUSIVE or SHARED, owner:token,
--         remaining lease (ms)}

local answer = {#queue()}

local function add(mode, grant, rest)
  answer[#answer + 1] = mode
  answer[#answer + 1] = grant
  answer[#answer + 1] = rest
end

local held = exclusive()
if held then
  add('EXCLUSIVE', held, redis.call('PTTL', KEYS[1]))
end
local readers = living(KEYS[4])
for i = 1, #readers, 2 do
  add('SHARED', readers[i], readers[i + 1] - now)
end
return answer
