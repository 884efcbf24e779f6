package io.holdfast.lock.support;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;

/**
 * The SQL states by which H2, PostgreSQL and MariaDB explain a failure. A failure has the
 * states of all its causes, because pools and templates wrap them.
 */
public final class SqlStates {

	/** A right is denied, in PostgreSQL. */
	public static final String PERMISSION_DENIED = "42501";

	/** The database or its transactions are read-only. */
	public static final String READ_ONLY = "25006";

	/** A transaction was rolled back in favor of another. */
	public static final String SERIALIZATION_FAILURE = "40001";

	private static final int CHANGED_IN_MARIADB = 1020;

	private static final Set<String> DENIALS = Set.of(PERMISSION_DENIED, "90096");

	/** The first one is that of PostgreSQL. */
	private static final Set<String> NO_SUCH_COLUMN = Set.of("42703", "42S22");

	/** PostgreSQL rejects each statement after one that has failed. */
	private static final Set<String> ABORTED = Set.of("25P02");

	/**
	 * The connection is lost, or the server has ended the session: after a command of an
	 * operator, after a timeout, or because it stops.
	 */
	private static final Set<String> LOST = Set.of("08000", "08003", "08006", "08S01", "25P03", "25P04", "57P01",
			"57P02");

	private SqlStates() {
	}

	/**
	 * Returns whether a database knows what was asked for, but denies the right to it.
	 * @param failure the failure
	 * @return whether PostgreSQL or H2 reports that
	 */
	public static boolean deniesRight(Throwable failure) {
		return isOneOf(failure, DENIALS);
	}

	/**
	 * Returns whether a database has rejected a statement because a table lacks a column.
	 * @param failure the failure
	 * @return whether PostgreSQL, H2 or MariaDB reports that
	 */
	public static boolean lacksColumn(Throwable failure) {
		return isOneOf(failure, NO_SUCH_COLUMN);
	}

	/**
	 * Returns whether PostgreSQL has rejected a statement because an earlier one of the
	 * same transaction has failed.
	 * @param failure the failure
	 * @return whether the transaction can only be rolled back
	 */
	public static boolean isOfAbortedTransaction(Throwable failure) {
		return isOneOf(failure, ABORTED);
	}

	/**
	 * Returns whether MariaDB has rejected a statement because a row has changed since
	 * its transaction took its snapshot. It reports that without an SQL state of its own.
	 * @param failure the failure
	 * @return whether a row has changed
	 */
	public static boolean isChangedSinceSnapshot(Throwable failure) {
		return Failures.causes(failure)
			.anyMatch((cause) -> cause instanceof SQLException sql && sql.getErrorCode() == CHANGED_IN_MARIADB);
	}

	/**
	 * Returns whether a statement has failed because the database had ended its
	 * transaction before.
	 * @param failure the failure
	 * @param connection the connection of the transaction
	 * @return whether the transaction was aborted or its connection is lost
	 */
	public static boolean isOfEndedTransaction(Throwable failure, Connection connection) {
		return isOfAbortedTransaction(failure) || isOneOf(failure, LOST) || isClosed(connection);
	}

	/** A pool closes a connection that is lost, and reports that without an SQL state. */
	private static boolean isClosed(Connection connection) {
		try {
			return connection.isClosed();
		}
		catch (SQLException ex) {
			return false;
		}
	}

	private static boolean isOneOf(Throwable failure, Set<String> states) {
		return states.stream().anyMatch((state) -> startsWith(failure, state));
	}

	/**
	 * Returns whether a database has reported a state of a class.
	 * @param failure the failure
	 * @param prefix the class, which is two characters, a whole state, or an empty string
	 * for any state
	 * @return whether the failure or one of its causes has such a state
	 */
	public static boolean startsWith(Throwable failure, String prefix) {
		return Failures.causes(failure)
			.anyMatch((cause) -> cause instanceof SQLException sql && sql.getSQLState() != null
					&& sql.getSQLState().startsWith(prefix));
	}

}
