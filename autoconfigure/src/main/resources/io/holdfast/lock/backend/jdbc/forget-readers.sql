-- Deletes this owner and all expired readers of a lock.
DELETE FROM ${table}_reader WHERE lock_id = :id AND (owner = :owner OR until_us <= ${now})
