-- Accepts holders that are not stale, all of them or none, and sets a value if one is passed. The script is atomic.
--
-- KEYS  1 a hash: fence -> token|owner with the greatest token so far · 2 the key to set, if any
-- ARGV  1 the value to set · then fence · token · owner · 1 if shared, for each holder
-- Returns {} if all are accepted, else {number of the first stale holder, the greatest token so far}.
--
-- Tokens have more digits than a Lua number holds exactly, so they are compared as text.

local function less(a, b)
  return #a < #b or (#a == #b and a < b)
end

for i = 2, #ARGV, 4 do
  local seen = redis.call('HGET', KEYS[1], ARGV[i])
  if seen then
    local token, owner = string.match(seen, '^(%d+)|(.*)$')
    local passes = less(token, ARGV[i + 1]) or (token == ARGV[i + 1] and owner == ARGV[i + 2])
    if not passes then
      return {tostring((i + 2) / 4), token}
    end
  end
end
for i = 2, #ARGV, 4 do
  if ARGV[i + 3] ~= '1' then
    redis.call('HSET', KEYS[1], ARGV[i], ARGV[i + 1] .. '|' .. ARGV[i + 2])
  end
end
if KEYS[2] then
  redis.call('SET', KEYS[2], ARGV[1])
end
return {}
