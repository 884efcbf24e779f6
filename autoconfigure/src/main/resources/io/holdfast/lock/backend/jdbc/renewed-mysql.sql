-- Returns the leases that still have their owner and token, and were renewed after a time.
SELECT lock_id, owner FROM ${table}
WHERE lock_id IN (:ids) AND (lock_id, owner, token) IN (:own) AND until_us >= :since + :lease
