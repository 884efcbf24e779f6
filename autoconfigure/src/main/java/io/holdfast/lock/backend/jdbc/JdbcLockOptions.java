package io.holdfast.lock.backend.jdbc;

import java.time.Duration;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.LockDigest;

/**
 * Options for locks in a database.
 *
 * @param namespace distinguishes the locks of this application from others in the same
 * table
 * @param table the table, optionally with its schema; inserted into statements unchanged
 * @param responseTimeout how long a statement may take, rounded up to whole seconds
 * @param listen whether a connection may be used to receive release notifications while
 * claims wait, if the database supports it
 */
public record JdbcLockOptions(String namespace, String table, Duration responseTimeout, boolean listen) {

	/**
	 * The longest timeout, about 23 days: servers and drivers count milliseconds with 31
	 * bits, and some timeouts are the sum of this one and up to a day.
	 */
	private static final long MOST_SECONDS = 2_000_000;

	/** Returns the identity of a lock in the table. */
	String id(LockName lock) {
		return LockDigest.of(this.namespace, lock);
	}

	int timeoutSeconds() {
		return timeoutSeconds(this.responseTimeout);
	}

	static int timeoutSeconds(Duration responseTimeout) {
		return (int) Math.min(MOST_SECONDS, Math.max(1, (responseTimeout.toMillis() + 999) / 1_000));
	}

}
