package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.SqlStates;

/**
 * Distinguishes definite errors from unknown outcomes by the class of the SQL state.
 */
final class JdbcErrors {

	/** In the message of HikariCP: none is open, or none is in use. */
	private static final List<String> NO_CONNECTION = List.of("(total=0,", " active=0,");

	/** The second one is that of H2, which does not use the class of the standard. */
	private static final Set<String> NO_SUCH_SCHEMA = Set.of("3F", "90079");

	private static final String DUPLICATE = "23505";

	private static final String VIOLATION_IN_MARIADB = "23000";

	private static final int DUPLICATE_IN_MARIADB = 1062;

	/** The binary log contains statements, which exclude READ COMMITTED. */
	private static final int BINARY_LOG_OF_MARIADB = 1665;

	/**
	 * A pooler has given a session to several connections, each with such a statement.
	 */
	private static final String PREPARED_BEFORE = "42P05";

	/** The server has an option, which for changes of rows is {@code read_only}. */
	private static final int READ_ONLY_OPTION_OF_MARIADB = 1290;

	/**
	 * The server or the user has too many connections, or the user has sent too many
	 * requests in this hour.
	 */
	private static final Set<Integer> LIMITS_OF_MARIADB = Set.of(1040, 1203, 1226);

	/** The server, the database or the user has too many connections. */
	private static final String LIMIT_OF_POSTGRESQL = "53300";

	/** PostgreSQL has a state for a full disk, others only have the system's message. */
	private static final String DISK_FULL = "53100";

	/** The queue of notifications in PostgreSQL is full, or cannot grow on its disk. */
	private static final List<String> NOTIFICATION_REJECTED = List.of(DISK_FULL, "54000");

	private static final String NO_SPACE = "No space left on device";

	/** An H2 whose write has failed rejects everything until its last connection ends. */
	private static final String H2 = "org.h2.";

	private JdbcErrors() {
	}

	/**
	 * Returns the cause of an unknown outcome, with a remedy if the connection pool, a
	 * limit or the disk of the database is it, or if the database is read-only.
	 */
	static Exception unknown(SQLException ex) {
		if (isLimitReached(ex)) {
			return new LockBackendException(
					"The database has reached a limit: %s. Raise this limit, or make the connection pools of its applications smaller."
						.formatted(Failures.rootMessage(ex)),
					ex);
		}
		LockBackendException exhausted = poolExhausted(ex);
		if (exhausted != null) {
			return exhausted;
		}
		LockBackendException full = diskFull(ex);
		if (full != null) {
			return full;
		}
		return isReadOnly(ex) ? new LockBackendException(
				"The database rejects changes: %s. Connect to the primary server, through a pool and with a user that may write."
					.formatted(Failures.rootMessage(ex)),
				ex) : ex;
	}

	private static boolean isReadOnly(SQLException ex) {
		return SqlStates.startsWith(ex, SqlStates.READ_ONLY) || ex.getErrorCode() == READ_ONLY_OPTION_OF_MARIADB;
	}

	/**
	 * Creates the exception for a database whose disk is full.
	 * @return the exception, or {@code null} if that is not the cause
	 */
	private static @Nullable LockBackendException diskFull(SQLException ex) {
		if (!SqlStates.startsWith(ex, DISK_FULL)
				&& Failures.causes(ex).noneMatch((cause) -> String.valueOf(cause.getMessage()).contains(NO_SPACE))) {
			return null;
		}
		String reopening = Failures.causes(ex).anyMatch((cause) -> cause.getClass().getName().startsWith(H2))
				? " H2 opens its file again only when all its connections are closed, so restart the application that has opened it."
				: "";
		return new LockBackendException("The disk of the database is full: %s. Free space on it.%s"
			.formatted(Failures.rootMessage(ex), reopening), ex);
	}

	/**
	 * Whether a deadlock or a serialization failure has rolled the transaction back in
	 * favor of another.
	 */
	static boolean isRetryable(SQLException ex) {
		return SqlStates.startsWith(ex, SqlStates.SERIALIZATION_FAILURE) || SqlStates.startsWith(ex, "40P01")
				|| SqlStates.isChangedSinceSnapshot(ex);
	}

	/**
	 * Whether PostgreSQL may have rolled a change back only because it cannot store the
	 * notification of it.
	 */
	static boolean isNotificationRejected(SQLException ex) {
		return NOTIFICATION_REJECTED.stream().anyMatch((state) -> SqlStates.startsWith(ex, state));
	}

	/** Whether a concurrent transaction has inserted the same row. */
	static boolean isDuplicate(SQLException ex) {
		return Failures.causes(ex)
			.anyMatch((cause) -> cause instanceof SQLException sql && (DUPLICATE.equals(sql.getSQLState())
					|| (VIOLATION_IN_MARIADB.equals(sql.getSQLState()) && sql.getErrorCode() == DUPLICATE_IN_MARIADB)));
	}

	/**
	 * Creates the exception for an error that remains until someone corrects its cause.
	 * @return the exception, or {@code null} if the outcome is unknown or a retry may
	 * succeed
	 */
	static @Nullable LockBackendException definite(SQLException ex, LockName lock, String table) {
		if (isRejected(ex)) {
			return new LockBackendException(
					"Lock '%s' (backend jdbc): the database rejected the statement (SQL state %s). Check that the tables '%s' and '%s_reader' exist as in schema.sql, and that the user may read and write them."
						.formatted(lock, ex.getSQLState(), table, table),
					ex);
		}
		if (SqlStates.startsWith(ex, "28")) {
			return new LockBackendException("Lock '%s' (backend jdbc): %s".formatted(lock, loginRejected(ex)), ex);
		}
		return null;
	}

	private static String loginRejected(SQLException ex) {
		return "the database rejected the login (SQL state %s). Check 'spring.datasource.username' and its password."
			.formatted(ex.getSQLState());
	}

	/**
	 * Creates the exception for a failed look-up or health check.
	 * @return an exception that names the remedy, or the given one if the database may
	 * not be reachable
	 */
	static Exception ofQuery(SQLException ex, String table) {
		if (unknown(ex) instanceof LockBackendException explained) {
			return explained;
		}
		if (isRejected(ex)) {
			return unreachable(ex, table);
		}
		if (SqlStates.startsWith(ex, "28")) {
			return new LockBackendException("Backend jdbc: " + loginRejected(ex), ex);
		}
		return ex;
	}

	/**
	 * Creates the exception for a failed first request.
	 * @return a configuration exception if another attempt would not change it
	 */
	static LockException unreachable(SQLException ex, String table) {
		if (SqlStates.deniesRight(ex)) {
			return rightDenied(ex, table);
		}
		if (SqlStates.lacksColumn(ex)) {
			return new LockConfigurationException(
					"The tables '%s' and '%s_reader' of the backend 'jdbc' differ from the script 'io/holdfast/lock/backend/jdbc/schema.sql' of this library: %s. Add the missing columns, or drop the tables while no lock is held and create them again."
						.formatted(table, table, Failures.rootMessage(ex)),
					ex);
		}
		if (isRejected(ex)) {
			return new LockConfigurationException(
					"The tables '%s' and '%s_reader' of the backend 'jdbc' do not exist or cannot be read. Create them in a migration with the script 'io/holdfast/lock/backend/jdbc/schema.sql' of this library, set 'distributed-lock.jdbc.initialize-schema=always', or correct 'distributed-lock.jdbc.table'."
						.formatted(table, table),
					ex);
		}
		if (ex.getErrorCode() == BINARY_LOG_OF_MARIADB) {
			return new LockConfigurationException(
					"The database of the backend 'jdbc' rejects transactions at READ COMMITTED, in which shared locks are acquired: its binary log contains statements instead of rows. Set 'binlog_format' to 'ROW' or 'MIXED'.",
					ex);
		}
		return new LockBackendException(
				"The database of the backend 'jdbc' could not be used: %s (SQL state %s). Check that it is running, and the settings of the DataSource."
					.formatted(Failures.rootMessage(ex), ex.getSQLState()),
				ex);
	}

	private static LockConfigurationException rightDenied(SQLException ex, String table) {
		String denial = Failures.rootMessage(ex);
		return new LockConfigurationException(denial.contains("pg_notify")
				? "The user of the backend 'jdbc' may not notify waiters (%s), so it could not release a lock for which others wait. Grant it EXECUTE on the function 'pg_notify'."
					.formatted(denial)
				: "The user of the backend 'jdbc' may not use the tables '%s' and '%s_reader' (%s). Grant it SELECT, INSERT and UPDATE on both, and DELETE on '%s_reader'."
					.formatted(table, table, denial, table),
				ex);
	}

	/**
	 * Creates the exception for a connection pool that is exhausted, or cannot fill up.
	 * @return the exception, or {@code null} if the pool is not the cause
	 */
	static @Nullable LockBackendException poolExhausted(SQLException ex) {
		boolean exhausted = ex instanceof SQLTransientConnectionException
				|| ex.getCause() instanceof NoSuchElementException
				|| ex.getClass().getSimpleName().equals("PoolExhaustedException");
		// an unreachable database has an SQL state of its own
		if (!exhausted || (SqlStates.startsWith(ex, "") && !isClosedByDriver(ex))) {
			return null;
		}
		String message = hasOpenedNone(ex)
				? "No connection to the database could be opened in time: %s. Check that it is running and reachable."
				: "The connection pool is exhausted: %s. Raise its size ('spring.datasource.hikari.maximum-pool-size') above the number of concurrent transactions, or set a separate pool for locks with 'distributed-lock.jdbc.data-source'.";
		return new LockBackendException(message.formatted(ex.getMessage()), ex);
	}

	/**
	 * Whether the pool has no connection that is in use, so that it has none that works,
	 * or has lost one that does not.
	 */
	static boolean hasOpenedNone(SQLException ex) {
		return NO_CONNECTION.stream().anyMatch(String.valueOf(ex.getMessage())::contains) || isClosedByDriver(ex);
	}

	/**
	 * Whether the last failure of the pool is a connection that the driver of MariaDB had
	 * closed. It has the SQL state of a rejected statement, and an error code that no
	 * server uses.
	 */
	private static boolean isClosedByDriver(SQLException ex) {
		return ex.getCause() instanceof SQLException cause && cause.getErrorCode() < 0
				&& SqlStates.startsWith(cause, "42");
	}

	/**
	 * Whether the server has rejected a statement, for example because there is no such
	 * schema. A driver may use the same SQL state for a connection that is closed, but
	 * then there is no error code of a server. A server also uses it for what a retry may
	 * overcome.
	 */
	static boolean isRejected(SQLException ex) {
		if (mayPass(ex)) {
			return false;
		}
		if (NO_SUCH_SCHEMA.stream().anyMatch((state) -> SqlStates.startsWith(ex, state))) {
			return true;
		}
		if (!(ex instanceof SQLTransientConnectionException)) {
			return SqlStates.startsWith(ex, "42");
		}
		return ex.getCause() instanceof SQLException cause && cause.getErrorCode() > 0
				&& SqlStates.startsWith(cause, "42");
	}

	private static boolean mayPass(SQLException ex) {
		return SqlStates.startsWith(ex, PREPARED_BEFORE) || isLimitReached(ex);
	}

	private static boolean isLimitReached(SQLException ex) {
		return SqlStates.startsWith(ex, LIMIT_OF_POSTGRESQL) || Failures.causes(ex)
			.anyMatch((cause) -> cause instanceof SQLException sql && LIMITS_OF_MARIADB.contains(sql.getErrorCode()));
	}

}
