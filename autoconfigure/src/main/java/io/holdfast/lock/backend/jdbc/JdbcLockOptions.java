package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.regex.Pattern;

import io.holdfast.lock.LockConfigurationException;

/**
 * How locks are kept in a database.
 *
 * @param namespace what the locks of this application are told apart by from those of
 * others in the same table
 * @param table the table, optionally with its schema
 * @param responseTimeout how long a statement may take, rounded up to whole seconds
 * @param listen whether a connection may be taken to hear of releases while somebody
 * waits, where the database can tell
 */
public record JdbcLockOptions(String namespace, String table, Duration responseTimeout, boolean listen) {

	private static final Pattern IDENTIFIER = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*(\\.[A-Za-z_][A-Za-z0-9_]*)?");

	/**
	 * Check the table's name, which becomes a part of statements.
	 * @throws LockConfigurationException if it is not a plain identifier
	 */
	public JdbcLockOptions {
		if (!IDENTIFIER.matcher(table).matches()) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.jdbc.table' is '%s', which is not the name of a table. Use letters, digits and '_', optionally after a schema and a dot."
						.formatted(table));
		}
	}

	int timeoutSeconds() {
		return (int) Math.max(1, (this.responseTimeout.toMillis() + 999) / 1_000);
	}

}
