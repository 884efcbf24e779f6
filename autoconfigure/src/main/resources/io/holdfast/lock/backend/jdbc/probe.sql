-- Fails unless both tables exist and can be read.
SELECT COUNT(*) FROM ${table} l, ${table}_reader r WHERE l.lock_id = '' AND l.waiter = '' AND r.lock_id = ''
