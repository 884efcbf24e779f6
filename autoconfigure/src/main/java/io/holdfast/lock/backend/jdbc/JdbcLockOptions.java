package io.holdfast.lock.backend.jdbc;

import java.time.Duration;

/**
 * How locks are kept in a database.
 *
 * @param namespace what the locks of this application are told apart by from those of
 * others in the same table
 * @param table the table, optionally with its schema; becomes a part of statements as it
 * is
 * @param responseTimeout how long a statement may take, rounded up to whole seconds
 * @param listen whether a connection may be taken to hear of releases while somebody
 * waits, where the database can tell
 */
public record JdbcLockOptions(String namespace, String table, Duration responseTimeout, boolean listen) {

	int timeoutSeconds() {
		return (int) Math.max(1, (this.responseTimeout.toMillis() + 999) / 1_000);
	}

}
