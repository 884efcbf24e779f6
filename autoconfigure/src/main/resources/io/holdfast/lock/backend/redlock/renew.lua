-- Start leases anew that are still their owners' on this node. (node.lua stands before this text.)
--
-- KEYS  node · lock · lock ...
-- ARGV  1 random · 2 1 if only an admitted memory counts · then for each lock: owner · lease (ms)
-- gives {1, r, r ...} with r = 1 if renewed and 0 if not, or {-1, name of the memory} if this node
--       does not vote

local name = ARGV[2] == '1' and unproven(KEYS[1], ARGV[1])
if name then
  return {-1, name}
end

local answer = {1}
for i = 2, #KEYS do
  if holder(KEYS[i]) == ARGV[2 * i - 1] then
    redis.call('PEXPIRE', KEYS[i], ARGV[2 * i])
    answer[i] = 1
  else
    answer[i] = 0
  end
end
return answer
