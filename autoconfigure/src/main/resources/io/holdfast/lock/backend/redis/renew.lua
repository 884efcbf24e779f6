-- Renews a lease if this grant still holds the lock. Loaded after queue.lua. It names a
-- single key: a Cluster that moves a slot serves no script with keys of which only some
-- exist, as long as the move takes.
--
-- KEYS  1 of queue.lua, or 4 if the lease is shared
-- ARGV  1 the grant, owner:token · 2 lease (ms) · 3 EXCLUSIVE or SHARED
-- Returns {1} if renewed, {0} if the lock is free or has another owner

if ARGV[3] == 'SHARED' then
  if reads(KEYS[1], ARGV[1]) then
    extend(KEYS[1], ARGV[1], now + ARGV[2])
    return {1}
  end
elseif exclusive() == ARGV[1] then
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  return {1}
end
return {0}
