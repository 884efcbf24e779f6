-- The server's time, in microseconds and in milliseconds. Loaded before members.lua.

local micros = redis.call('TIME')
micros = micros[1] * 1000000 + micros[2]
local now = math.floor(micros / 1000)

