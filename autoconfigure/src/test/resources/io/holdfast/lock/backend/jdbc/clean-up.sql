-- Deletes the rows of locks that were not acquired for a day. The statements are separated by empty lines.

-- tag::h2[]
DELETE FROM holdfast_lock WHERE GREATEST(token, until_us, readers_until_us)
	< DATEDIFF(MICROSECOND, TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00Z',
		CURRENT_TIMESTAMP AT TIME ZONE 'UTC') - 86400000000
-- end::h2[]

-- tag::postgresql[]
DELETE FROM holdfast_lock WHERE GREATEST(token, until_us, readers_until_us)
	< EXTRACT(EPOCH FROM now()) * 1000000 - 86400000000
-- end::postgresql[]

-- tag::mariadb[]
DELETE FROM holdfast_lock WHERE GREATEST(token, until_us, readers_until_us)
	< TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)) - 86400000000
-- end::mariadb[]
