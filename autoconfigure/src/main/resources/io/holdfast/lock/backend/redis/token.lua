-- The token of a lock, KEYS[2]. Loaded after clock.lua.

-- Grants the next token. While its key exists, the token grows with every grant,
-- independent of the clock. The key exists until the server's time has passed the token,
-- even if the clock was ahead. Microseconds since 1970 stay below 2^53, so a Lua number
-- holds them exactly.
local function next_token(lifetime)
  local previous = tonumber(redis.call('GET', KEYS[2]) or '0') or 0
  local token = math.max(micros, previous + 1)
  local text = string.format('%.0f', token)
  if token > micros then
    lifetime = string.format('%.0f', lifetime + math.ceil((token - micros) / 1000))
  end
  redis.call('SET', KEYS[2], text, 'PX', lifetime)
  return token, text
end

