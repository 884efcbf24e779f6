-- Returns the exclusive leases that have not expired and still have their owner and token.
SELECT lock_id, owner FROM ${table}
WHERE lock_id IN (:ids) AND (lock_id, owner, token) IN (:own) AND until_us > ${now}
