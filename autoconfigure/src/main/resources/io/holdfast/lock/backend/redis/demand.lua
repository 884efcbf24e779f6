-- Asks the instance with a sticky lease to release it if no hold uses it. The value of the
-- lock names its channel. Loaded after members.lua.

local function demand(channel, owner)
  redis.call('PUBLISH', channel, 'wanted:' .. owner)
end

