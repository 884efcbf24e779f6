package io.holdfast.lock.transaction;

import io.holdfast.lock.test.server.PostgresServer;

/**
 * The database of an application under test.
 */
enum Database {

	H2, POSTGRES;

	/**
	 * Returns the setting of the data source, for a database of its own.
	 * @param postgres the server of {@link #POSTGRES}
	 */
	String setting(PostgresServer postgres) {
		return (this == POSTGRES) ? "spring.datasource.url=" + postgres.jdbcUrl() : JpaApplication.IN_MEMORY;
	}

}
