package io.holdfast.lock.autoconfigure;

/**
 * How a database keeps locks.
 */
enum JdbcLockMode {

	/** As rows of a table, in every supported database. */
	ROWS,

	/**
	 * As advisory locks of PostgreSQL, each in a session of its own.
	 */
	ADVISORY

}
