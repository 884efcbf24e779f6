-- The table of fenced transactions, for H2, PostgreSQL, MariaDB and MySQL.
-- A row stores the greatest fencing token of a lock so far. The rows of locks that are never acquired again may be
-- deleted.
CREATE TABLE IF NOT EXISTS ${table} (
	lock_id VARCHAR(64) NOT NULL PRIMARY KEY, -- digest of store, namespace and lock
	lock_name VARCHAR(255) NOT NULL,       -- readable name of the lock, shortened
	token BIGINT NOT NULL,
	owner VARCHAR(36) NOT NULL
) /* on PostgreSQL: WITH (fillfactor = 25) */ /* on MariaDB: ENGINE = InnoDB */;
