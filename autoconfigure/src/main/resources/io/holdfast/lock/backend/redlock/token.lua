-- The tokens of a lock, which grow with every grant. Loaded after node.lua.

-- Returns the next token: the previous one plus one, so that nodes that saw the same
-- grants agree. If this lock has no previous token, the server's time and the highest
-- token of any lock on this node replace it. Tokens that an earlier run may have lost are
-- below the floor.
local function next_token(previous, highest, floor)
  local token = previous and previous + 1 or math.max(micros, tonumber(highest or '0') + 1)
  return math.max(token, tonumber(floor or '0'))
end

-- Remembers a token that is granted.
local function remember(key, node, highest, token, lifetime)
  raise(node, 'highest', highest, token)
  redis.call('SET', key, string.format('%.0f', token), 'PX', lifetime)
end

