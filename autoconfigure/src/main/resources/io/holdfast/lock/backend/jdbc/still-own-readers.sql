-- Returns the shared leases that have not expired and still have their owner and token.
SELECT r.lock_id, r.owner FROM ${table}_reader r JOIN ${table} l ON l.lock_id = r.lock_id
WHERE r.lock_id IN (:ids) AND (r.lock_id, r.owner, r.token) IN (:own)
AND r.until_us > ${now} AND l.until_us <= ${now}
