-- Renews leases whose owners still hold the locks on this node. Loaded after node.lua and
-- sets.lua.
--
-- KEYS  node · then for each lease its lock, or its readers if it is shared
-- ARGV  1 random · 2 1 if only an admitted memory counts · then for each lease:
--       owner · lease (ms) · EXCLUSIVE or SHARED
-- A renewed lease counts, so no attempt is undone on this node any more: the undoing of an
-- attempt that was late here may arrive after the renewal.
--
-- Returns {1, r, r ..., run id} with r = 1 if renewed, else 0, or {-1, name of the memory,
--         run id} if this node does not vote

-- Exceeds the number of every attempt.
local RENEWED = 9007199254740991

local name, run = unproven(KEYS[1], ARGV[1])
if name and ARGV[2] == '1' then
  return {-1, name, run}
end

local answer = {1}
local longest = 0
for i = 2, #KEYS do
  local owner, lease, shared = ARGV[3 * i - 3], ARGV[3 * i - 2], ARGV[3 * i - 1] == 'SHARED'
  answer[i] = 0
  if shared then
    local mine = reader(KEYS[i], owner)
    if mine then
      share(KEYS[i], mine, owner, RENEWED, mine.token, now + lease)
      answer[i] = 1
    end
  else
    local holding, _, token, channel = holder(KEYS[i])
    if holding == owner then
      -- a full Redis rejects SET, but not in a script that has already written
      redis.call('PEXPIRE', KEYS[i], lease)
      hold(KEYS[i], owner, RENEWED, token, lease, channel)
      answer[i] = 1
    end
  end
  if answer[i] == 1 then
    longest = math.max(longest, tonumber(lease))
  end
end
raise(KEYS[1], 'longest', redis.call('HGET', KEYS[1], 'longest'), longest)
answer[#answer + 1] = run
return answer
