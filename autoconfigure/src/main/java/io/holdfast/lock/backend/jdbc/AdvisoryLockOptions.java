package io.holdfast.lock.backend.jdbc;

import java.time.Duration;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.LockDigest;

/**
 * Options for advisory locks of PostgreSQL.
 *
 * @param namespace distinguishes the locks of this application from others in the same
 * database
 * @param table the table of the mode {@code rows}, optionally with its schema; the
 * sequence of the tokens has the same name with the suffix {@code _token}
 * @param responseTimeout how long a statement may take, rounded up to whole seconds
 * @param ownPool whether the backend owns the connection pool and closes it
 */
public record AdvisoryLockOptions(String namespace, String table, Duration responseTimeout, boolean ownPool) {

	private static final int HEXADECIMAL = 16;

	/** 64 bits, as many as an advisory lock has. */
	private static final int DIGITS = 16;

	/**
	 * Returns the key of the advisory lock. Two locks with the same key, which is very
	 * unlikely, exclude each other.
	 */
	long key(LockName lock) {
		return Long.parseUnsignedLong(LockDigest.of(this.namespace, lock).substring(0, DIGITS), HEXADECIMAL);
	}

	int timeoutSeconds() {
		return JdbcLockOptions.timeoutSeconds(this.responseTimeout);
	}

}
