package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

import io.holdfast.lock.LockConfigurationException;

/**
 * Settings of locks in a database.
 *
 * @param mode How the database keeps locks.
 * @param table Name of the lock table, optionally with its schema. The table of readers
 * has the same name with the suffix '_reader', and the sequence of the mode 'advisory'
 * has the suffix '_token'.
 * @param dataSource Bean name of the DataSource. Defaults to the application's only or
 * primary one. The mode 'advisory' then makes a pool of its own with the same settings.
 * @param listen Whether to listen for release notifications on a dedicated connection
 * while threads wait. Requires PostgreSQL and a pool of more than two connections.
 * @param initializeSchema When to create the tables, or the sequence, at startup.
 * @param advisory Locks in the mode 'advisory'.
 */
@ConfigurationProperties("distributed-lock.jdbc")
record JdbcLockProperties(@DefaultValue("rows") JdbcLockMode mode, @DefaultValue("holdfast_lock") String table,
		@Nullable String dataSource, @DefaultValue("true") boolean listen,
		@DefaultValue("embedded") DatabaseInitializationMode initializeSchema, @DefaultValue Advisory advisory) {

	JdbcLockProperties {
		TableScripts.requireTableName("distributed-lock.jdbc.table", table);
	}

	/**
	 * Locks in the mode 'advisory'.
	 *
	 * @param maxConnections Size of the pool that is made for locks: the number of locks
	 * that this instance holds or waits for at the same time. A pool that is named has
	 * its own size.
	 */
	record Advisory(@DefaultValue("16") int maxConnections) {

		Advisory {
			if (maxConnections < 1) {
				throw new LockConfigurationException(
						"The property '%s' is %s. Set it to the number of locks that this instance holds or waits for at the same time."
							.formatted(AdvisoryPool.MAX_CONNECTIONS, maxConnections));
			}
		}

	}

}
