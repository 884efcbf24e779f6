-- Releases an exclusive lock by force. A sticky lease is also demanded, so that callers of
-- its instance do not take it over.
${release-and-notify},
	CASE WHEN writer_until_us = -CAST(:token AS BIGINT) THEN pg_notify('${channel}', '${wanted}' || :owner) END
