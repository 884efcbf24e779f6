package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * Settings of fenced transactions.
 *
 * @param enabled Whether to fence transactions. Defaults to whether there is a DataSource
 * with the fencing table. With 'true', the application fails to start if there is none.
 * @param table Name of the fencing table.
 * @param initializeSchema When to create the table at startup.
 * @param dataSource Bean name of the DataSource whose transactions are fenced. Defaults
 * to the application's only or primary one.
 */
@ConfigurationProperties("distributed-lock.fencing")
record FencingProperties(@Nullable Boolean enabled, @DefaultValue("holdfast_fence") String table,
		@DefaultValue("embedded") DatabaseInitializationMode initializeSchema, @Nullable String dataSource) {

	FencingProperties {
		LockDatabase.requireTableName("distributed-lock.fencing.table", table);
	}

}
