-- What fenced transactions need; for H2, PostgreSQL, MariaDB and MySQL.
-- A row remembers the greatest fencing token that a lock's holders have come with. Rows of locks that nobody
-- will hold again may be deleted.
CREATE TABLE IF NOT EXISTS ${table} (
	lock_id CHAR(64) NOT NULL PRIMARY KEY, -- digest of store, namespace and lock
	lock_name VARCHAR(255) NOT NULL,       -- the lock as people read it, shortened
	token BIGINT NOT NULL,
	owner VARCHAR(36) NOT NULL
);
