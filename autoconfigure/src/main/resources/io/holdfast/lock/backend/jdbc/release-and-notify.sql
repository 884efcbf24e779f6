-- Releases an exclusive lock, and notifies waiters if it was held. Returns a row if so.
WITH freed AS (
${release}
RETURNING lock_id)
SELECT pg_notify('${channel}', lock_id) FROM freed
