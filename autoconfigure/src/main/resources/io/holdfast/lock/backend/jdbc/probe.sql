-- Fails unless both tables exist and can be read.
SELECT COUNT(*) FROM ${table} l, ${table}_reader r WHERE l.lock_id = '' AND r.lock_id = ''
