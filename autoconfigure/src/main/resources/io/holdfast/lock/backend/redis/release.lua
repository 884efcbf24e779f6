-- Releases the lock of a reader, and notifies the next waiters. Loaded after
-- release-exclusive.lua, which describes arguments and result, queue.lua and notify.lua.

if not released then
  if not reads(KEYS[4], ARGV[1]) then
    return {0}
  end
  remove(KEYS[4], ARGV[1])
end
notify(ARGV[2], ARGV[3], released)
return {1}
