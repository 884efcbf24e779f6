-- Counts its runs.
return {redis.call('INCR', KEYS[1])}
