-- Notifies the waiters of a lock when the transaction commits.
SELECT pg_notify('${channel}', :id)
