package io.holdfast.lock.autoconfigure;

import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.sql.init.DatabaseInitializationMode;

import io.holdfast.lock.LockConfigurationException;

/**
 * The settings of fenced transactions.
 *
 * @param enabled whether transactions are fenced. If absent, they are where there is a
 * DataSource with the table of the fences; 'true' stops the start where there is none
 * @param table table of the fences
 * @param initializeSchema when to make the table at the start
 * @param dataSource name of the DataSource bean whose transactions are fenced. If absent,
 * the application's own
 */
@ConfigurationProperties("distributed-lock.fencing")
record FencingProperties(@Nullable Boolean enabled, @DefaultValue("holdfast_fence") String table,
		@DefaultValue("embedded") DatabaseInitializationMode initializeSchema, @Nullable String dataSource) {

	private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*([.][A-Za-z_][A-Za-z0-9_]*)?");

	FencingProperties {
		if (!IDENTIFIER.matcher(table).matches()) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.fencing.table' is '%s', which is not the name of a table. Write it as 'holdfast_fence' or 'schema.holdfast_fence'."
						.formatted(table));
		}
	}

}
