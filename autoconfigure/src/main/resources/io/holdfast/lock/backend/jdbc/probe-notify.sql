-- Changes and notifies nothing, but fails unless the user may notify.
UPDATE ${table} SET token = token WHERE lock_id = '' AND pg_notify('${channel}', lock_id) IS NULL
