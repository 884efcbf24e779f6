package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * Settings of locks in a database.
 *
 * @param table Name of the lock table, optionally with its schema. The table of readers
 * has the same name with the suffix '_reader'.
 * @param dataSource Bean name of the DataSource. Defaults to the application's only or
 * primary one.
 * @param listen Whether to listen for release notifications on a dedicated connection
 * while threads wait. Requires PostgreSQL and a pool of more than two connections.
 * @param initializeSchema When to create the tables at startup.
 */
@ConfigurationProperties("distributed-lock.jdbc")
record JdbcLockProperties(@DefaultValue("holdfast_lock") String table, @Nullable String dataSource,
		@DefaultValue("true") boolean listen, @DefaultValue("embedded") DatabaseInitializationMode initializeSchema) {

	JdbcLockProperties {
		LockDatabase.requireTableName("distributed-lock.jdbc.table", table);
	}

}
