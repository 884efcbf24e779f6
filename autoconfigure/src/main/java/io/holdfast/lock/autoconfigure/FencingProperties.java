package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

/**
 * The settings of fenced transactions.
 *
 * @param enabled Whether transactions are fenced. If absent, they are where there is a
 * DataSource with the table of the fences; 'true' stops the start where there is none.
 * @param table Table of the fences.
 * @param initializeSchema When to make the table at the start.
 * @param dataSource Name of the DataSource bean whose transactions are fenced. If absent,
 * the application's own.
 */
@ConfigurationProperties("distributed-lock.fencing")
record FencingProperties(@Nullable Boolean enabled, @DefaultValue("holdfast_fence") String table,
		@DefaultValue("embedded") DatabaseInitializationMode initializeSchema, @Nullable String dataSource) {

	FencingProperties {
		LockDatabase.requireTableName("distributed-lock.fencing.table", table);
	}

}
