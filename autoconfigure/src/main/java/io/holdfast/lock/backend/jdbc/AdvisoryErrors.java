package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.SqlStates;

/**
 * Explains errors of the mode {@code advisory}.
 *
 * @param options how locks are kept
 */
record AdvisoryErrors(AdvisoryLockOptions options) {

	/**
	 * Whether the session has ended with the exception, and its locks with it: the
	 * connection is broken, or the server has ended the session.
	 */
	static boolean endsSession(SQLException ex) {
		return SqlStates.startsWith(ex, "08") || SqlStates.startsWith(ex, "57P");
	}

	/**
	 * Returns an exception that names the remedy after a failed forced release, or the
	 * given one.
	 */
	Exception ofRevocation(SQLException ex, LockName lock) {
		return SqlStates.startsWith(ex, SqlStates.PERMISSION_DENIED) ? new LockBackendException(
				"Lock '%s' (backend jdbc) is still held: this database user must not end the session of its holder, which has another user (SQL state 42501). Use the same user for all instances, or grant it the role 'pg_signal_backend'."
					.formatted(lock),
				ex) : ofQuery(ex);
	}

	/**
	 * Creates the exception for an error that remains until someone corrects its cause.
	 * @return the exception, or {@code null} if the outcome is unknown or a retry may
	 * succeed
	 */
	@Nullable LockBackendException definite(SQLException ex, LockName lock) {
		if (JdbcErrors.isRejected(ex)) {
			return new LockBackendException("Lock '%s' (backend jdbc): %s".formatted(lock, withoutSequence(ex)), ex);
		}
		return JdbcErrors.definite(ex, lock, this.options.table());
	}

	private String withoutSequence(SQLException ex) {
		return "the sequence '%s_token' of the mode 'advisory' does not exist or cannot be used (SQL state %s). Create it in a migration with the script 'io/holdfast/lock/backend/jdbc/advisory-schema.sql' of this library and grant the user USAGE and UPDATE on it, or set 'distributed-lock.jdbc.initialize-schema=always'."
			.formatted(this.options.table(), ex.getSQLState());
	}

	/** Returns the cause of an unknown outcome, with a remedy if there is one. */
	Exception unknown(SQLException ex) {
		LockBackendException exhausted = poolExhausted(ex);
		return (exhausted != null) ? exhausted : JdbcErrors.unknown(ex);
	}

	/** Returns an exception that names the remedy, or the given one. */
	Exception ofQuery(SQLException ex) {
		LockBackendException exhausted = poolExhausted(ex);
		if (exhausted != null) {
			return exhausted;
		}
		return JdbcErrors.isRejected(ex) ? unreachable(ex) : JdbcErrors.ofQuery(ex, this.options.table());
	}

	/**
	 * Creates the exception for a failed first request.
	 * @return a configuration exception if another attempt would not change it
	 */
	LockException unreachable(SQLException ex) {
		return JdbcErrors.isRejected(ex)
				? new LockConfigurationException("Backend 'jdbc': %s".formatted(withoutSequence(ex)), ex)
				: JdbcErrors.unreachable(ex, this.options.table());
	}

	/**
	 * Creates the exception for a connection pool that is exhausted, or cannot fill up.
	 * @return the exception, or {@code null} if the pool is not the cause
	 */
	private @Nullable LockBackendException poolExhausted(SQLException ex) {
		LockBackendException exhausted = JdbcErrors.poolExhausted(ex);
		if (exhausted == null || JdbcErrors.hasOpenedNone(ex)) {
			return exhausted;
		}
		return new LockBackendException(
				"The connection pool for locks is exhausted: %s. In the mode 'advisory', each lock that is held and each lock that is waited for has a connection. Raise %s above their number in this instance."
					.formatted(Failures.rootMessage(ex),
							this.options.ownPool() ? "'distributed-lock.jdbc.advisory.max-connections'"
									: "the size of the pool in 'distributed-lock.jdbc.data-source'"),
				ex);
	}

}
