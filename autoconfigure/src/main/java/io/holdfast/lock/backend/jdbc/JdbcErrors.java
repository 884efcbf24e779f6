package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.NoSuchElementException;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockName;

/**
 * Tells errors that will not go away by themselves from those of unknown outcome, by the
 * class of their SQL state.
 */
final class JdbcErrors {

	private JdbcErrors() {
	}

	/**
	 * A deadlock, or two that could not have come one after the other: ours was undone.
	 */
	static boolean rolledBackForAnother(SQLException ex) {
		return hasClass(ex, "40001") || hasClass(ex, "40P01");
	}

	/** Another has inserted the same row at the same moment. */
	static boolean duplicate(SQLException ex) {
		return hasClass(ex, "23");
	}

	/**
	 * What to tell of an error that stands until somebody acts.
	 * @return the exception, or {@code null} if the outcome is unknown or another try may
	 * go well
	 */
	static @Nullable LockBackendException definite(SQLException ex, LockName lock, String table) {
		if (hasClass(ex, "42")) {
			return new LockBackendException(
					"Lock '%s' (store jdbc): the database refuses the statement (SQL state %s). See that the tables '%s' and '%s_reader' are there as schema.sql has them, and that the user may read and write them."
						.formatted(lock, ex.getSQLState(), table, table),
					ex);
		}
		if (hasClass(ex, "28")) {
			return new LockBackendException(
					"Lock '%s' (store jdbc): the database refuses the login (SQL state %s). Check 'spring.datasource.username' and its password."
						.formatted(lock, ex.getSQLState()),
					ex);
		}
		return null;
	}

	/**
	 * What to tell of a connection that was not to be had.
	 * @return the exception, or {@code null} if it is not the pool that had none
	 */
	static @Nullable LockBackendException poolExhausted(SQLException ex) {
		boolean exhausted = ex instanceof SQLTransientConnectionException
				|| ex.getCause() instanceof NoSuchElementException
				|| ex.getClass().getSimpleName().equals("PoolExhaustedException");
		// a database that is away has a state of its own
		if (!exhausted || hasClass(ex, "")) {
			return null;
		}
		return new LockBackendException(
				"The connection pool gave no connection, because all are in use: %s. Raise its size ('spring.datasource.hikari.maximum-pool-size') above the number of transactions that run at a time, or name a pool for locks alone with 'distributed-lock.jdbc.data-source'."
					.formatted(ex.getMessage()),
				ex);
	}

	private static boolean hasClass(SQLException ex, String stateClass) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause instanceof SQLException sql && sql.getSQLState() != null
					&& sql.getSQLState().startsWith(stateClass)) {
				return true;
			}
		}
		return false;
	}

}
