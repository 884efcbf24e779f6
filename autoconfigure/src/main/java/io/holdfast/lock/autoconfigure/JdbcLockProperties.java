package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * The settings of the store in a database.
 *
 * @param table Table of the locks, optionally with its schema; the readers are in a
 * second one of that name with '_reader' behind it.
 * @param dataSource Bean name of the DataSource. If absent, the application's only or
 * primary one.
 * @param listen Whether, while somebody waits, a connection is taken to hear of releases,
 * where the database can tell (PostgreSQL) and the pool has more than two connections.
 * @param initializeSchema Which databases get the tables when the application starts.
 */
@ConfigurationProperties("distributed-lock.jdbc")
record JdbcLockProperties(@DefaultValue("holdfast_lock") String table, @Nullable String dataSource,
		@DefaultValue("true") boolean listen, @DefaultValue("embedded") DatabaseInitializationMode initializeSchema) {

	JdbcLockProperties {
		LockDatabase.requireTableName("distributed-lock.jdbc.table", table);
	}

}
