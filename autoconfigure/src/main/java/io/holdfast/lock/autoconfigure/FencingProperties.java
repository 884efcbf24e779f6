package io.holdfast.lock.autoconfigure;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.util.StringUtils;

/**
 * Settings of fenced transactions.
 *
 * @param enabled Whether to fence transactions. Defaults to whether there is a DataSource
 * with the fencing table. With 'true', with a table or DataSource of its own, or with
 * 'initialize-schema=always', the application fails to start if there is none.
 * @param table Name of the fencing table.
 * @param initializeSchema When to create the table at startup.
 * @param dataSource Bean name of the DataSource whose transactions are fenced. Defaults
 * to the application's only or primary one.
 */
@ConfigurationProperties("distributed-lock.fencing")
record FencingProperties(@Nullable Boolean enabled, @DefaultValue(FencingProperties.TABLE) String table,
		@DefaultValue("embedded") DatabaseInitializationMode initializeSchema, @Nullable String dataSource) {

	private static final String TABLE = "holdfast_fence";

	FencingProperties {
		TableScripts.requireTableName("distributed-lock.fencing.table", table);
	}

	/**
	 * Returns the setting that asks for fencing, or {@code null} if there is none.
	 */
	@Nullable String requestedBy() {
		if (this.enabled != null) {
			return this.enabled ? "enabled=true" : null;
		}
		if (StringUtils.hasText(this.dataSource)) {
			return "data-source=" + this.dataSource;
		}
		if (this.initializeSchema == DatabaseInitializationMode.ALWAYS) {
			return "initialize-schema=always";
		}
		return this.table.equals(TABLE) ? null : "table=" + this.table;
	}

}
