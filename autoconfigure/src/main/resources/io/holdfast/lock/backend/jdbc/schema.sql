-- Tables of the lock backend 'jdbc', for H2, PostgreSQL, MariaDB and MySQL.
-- A free lock keeps its row, because the row contains the last token. A row that was not
-- used for a day may be deleted: tokens are never below the database's time. On PostgreSQL,
-- locks in use at the same time should not share a page: old versions of their rows are only
-- removed from a page that no one else reads.
CREATE TABLE IF NOT EXISTS ${table} (
	lock_id VARCHAR(64) NOT NULL PRIMARY KEY, -- digest of namespace and lock
	lock_name VARCHAR(255) NOT NULL,       -- the lock in readable form, shortened
	owner VARCHAR(36) NOT NULL,            -- the exclusive holder
	token BIGINT NOT NULL,                 -- the greatest token granted
	until_us BIGINT NOT NULL,              -- end of the exclusive lease (microseconds by the database's clock); 0 if released
	readers_until_us BIGINT NOT NULL,      -- end of the last shared lease
	writer_until_us BIGINT NOT NULL,       -- no new reader before this time, because a writer waits; -token if the lease is sticky
	waiter VARCHAR(36) DEFAULT '' NOT NULL, -- the first waiter: a release keeps the lock for it
	waiter_since_us BIGINT DEFAULT 0 NOT NULL, -- since when the first waiter has waited
	waiter_until_us BIGINT DEFAULT 0 NOT NULL -- releases consider waiters until this time
) /* on PostgreSQL: WITH (fillfactor = 25) */ /* on MariaDB: ENGINE = InnoDB */;
CREATE TABLE IF NOT EXISTS ${table}_reader (
	lock_id VARCHAR(64) NOT NULL,
	owner VARCHAR(36) NOT NULL,
	token BIGINT NOT NULL,
	until_us BIGINT NOT NULL,
	PRIMARY KEY (lock_id, owner)
) /* on MariaDB: ENGINE = InnoDB */;
