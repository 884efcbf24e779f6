package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;
import java.sql.SQLSyntaxErrorException;
import java.sql.SQLTransientConnectionException;
import java.util.List;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.support.Failures;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link JdbcErrors}.
 */
class JdbcErrorsTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	/** So the driver of MariaDB calls a connection that the pool has lost. */
	@Test
	void closedConnectionIsNoRejectedStatement() {
		SQLException closed = new SQLTransientConnectionException("Connection is not available, timed out", "42000",
				new SQLSyntaxErrorException("setNetworkTimeout on a closed connection", "42000", -1));
		assertThat(JdbcErrors.definite(closed, LOCK, "locks")).isNull();
		assertThat(JdbcErrors.unreachable(closed, "locks")).isInstanceOf(LockBackendException.class);
		assertThat(JdbcErrors.ofQuery(closed, "locks")).isInstanceOf(LockBackendException.class);
	}

	/** PgBouncer shares sessions and MariaDB limits the connections of a user. */
	@Test
	void errorThatMayPassIsNoRejectedStatement() {
		SQLException prepared = new SQLException("prepared statement \"S_1\" already exists", "42P05");
		SQLException limit = new SQLSyntaxErrorException("User 'shop' has exceeded 'max_user_connections'", "42000",
				1226);
		SQLException limitOfThePool = new SQLTransientConnectionException("Connection is not available, timed out",
				"42000", new SQLSyntaxErrorException("User shop already has more connections", "42000", 1203));
		for (SQLException passing : new SQLException[] { prepared, limit, limitOfThePool }) {
			assertThat(JdbcErrors.definite(passing, LOCK, "locks")).isNull();
			assertThat(JdbcErrors.unreachable(passing, "locks")).isInstanceOf(LockBackendException.class);
			assertThat(JdbcErrors.ofQuery(passing, "locks")).isNotInstanceOf(LockConfigurationException.class)
				.hasMessageContaining(Failures.root(passing).getMessage());
		}
	}

	@Test
	void errorOfTheServerIsDefinite() {
		SQLException missingTable = new SQLSyntaxErrorException("relation \"locks\" does not exist", "42P01");
		SQLException unknownDatabase = new SQLTransientConnectionException("Connection is not available, timed out",
				"42000", new SQLSyntaxErrorException("Unknown database 'shop'", "42000", 1049));
		for (SQLException definite : new SQLException[] { missingTable, unknownDatabase }) {
			assertThat(JdbcErrors.definite(definite, LOCK, "locks")).isNotNull();
			assertThat(JdbcErrors.unreachable(definite, "locks")).isInstanceOf(LockConfigurationException.class);
			assertThat(JdbcErrors.ofQuery(definite, "locks")).isInstanceOf(LockConfigurationException.class);
		}
	}

	/** MySQL and MariaDB write only rows to it at READ COMMITTED. */
	@Test
	void binaryLogOfStatementsIsNamed() {
		SQLException statements = new SQLException("Cannot execute statement: BINLOG_FORMAT = STATEMENT", "HY000",
				1665);
		assertThat(JdbcErrors.unreachable(statements, "locks")).isInstanceOf(LockConfigurationException.class)
			.hasMessageContaining("Set 'binlog_format' to 'ROW' or 'MIXED'");
	}

	/** PostgreSQL has a state of its own for that, and adds lines to its message. */
	@Test
	void fullDiskIsNamedWithItsRemedy() {
		SQLException full = new SQLException("ERROR: could not extend file\n  Hint: Check free disk space.", "53100");
		assertThat(JdbcErrors.unknown(full)).isInstanceOf(LockBackendException.class)
			.hasMessage(
					"The disk of the database is full: SQLException: ERROR: could not extend file Hint: Check free disk space. Free space on it.");
		assertThat(JdbcErrors.definite(full, LOCK, "locks")).isNull();
		assertThat(JdbcErrors.ofQuery(full, "locks")).hasMessageContaining("Free space on it");
	}

	/** The second one is the message of MariaDB and MySQL with {@code read_only}. */
	@Test
	void databaseThatRejectsChangesIsNamedWithItsRemedy() {
		for (SQLException readOnly : List.of(
				new SQLException("ERROR: cannot execute INSERT in a read-only transaction", "25006"),
				new SQLException("The server is running with the --read-only option", "HY000", 1290))) {
			assertThat(JdbcErrors.unknown(readOnly)).isInstanceOf(LockBackendException.class)
				.hasMessageStartingWith("The database rejects changes: SQLException: " + readOnly.getMessage())
				.hasMessageEndingWith("Connect to the primary server, through a pool and with a user that may write.");
			assertThat(JdbcErrors.definite(readOnly, LOCK, "locks")).isNull();
			assertThat(JdbcErrors.ofQuery(readOnly, "locks")).hasMessageContaining("Connect to the primary server");
		}
	}

	/** The first one is that of PostgreSQL, the others are those of MariaDB. */
	@Test
	void limitOfConnectionsIsNamedWithItsRemedy() {
		for (SQLException limit : List.of(new SQLException("FATAL: sorry, too many clients already", "53300"),
				new SQLException("Too many connections", "08004", 1040),
				new SQLException("User app already has more than 'max_user_connections'", "42000", 1203))) {
			SQLException unfilled = new SQLTransientConnectionException(
					"HikariPool-1 - Connection is not available, request timed out after 1001ms (total=0, active=0, idle=0, waiting=2)",
					limit.getSQLState(), limit);
			for (SQLException failure : List.of(limit, unfilled)) {
				assertThat(JdbcErrors.unknown(failure)).isInstanceOf(LockBackendException.class)
					.hasMessage(
							"The database has reached a limit: SQLException: %s. Raise this limit, or make the connection pools of its applications smaller.",
							limit.getMessage());
				assertThat(JdbcErrors.definite(failure, LOCK, "locks")).isNull();
			}
		}
	}

	@Test
	void poolWithoutAConnectionInUseIsNotExhausted() {
		SQLException restarting = new SQLTransientConnectionException(
				"HikariPool-1 - Connection is not available, request timed out after 1097ms (total=1, active=0, idle=1, waiting=4)");
		assertThat(JdbcErrors.unknown(restarting)).hasMessageContaining("could be opened in time")
			.hasMessageContaining("Check that it is running and reachable");
	}

	/** Some connections still wait for a database that is frozen. */
	@Test
	void poolOfClosedConnectionsIsNotExhausted() {
		SQLException closed = new SQLSyntaxErrorException(
				"(conn=13) Connection.setNetworkTimeout cannot be called on a closed connection", "42000", -1);
		for (String counts : List.of("total=0, active=0, idle=0", "total=6, active=3, idle=3")) {
			SQLException frozen = new SQLTransientConnectionException(
					"HikariPool-1 - Connection is not available, request timed out after 1001ms (" + counts
							+ ", waiting=2)",
					"42000", -1, closed);
			assertThat(JdbcErrors.unknown(frozen)).hasMessageContaining("could be opened in time")
				.hasMessageContaining("Check that it is running and reachable");
		}
	}

	/** PostgreSQL has no error codes. */
	@Test
	void rejectionByTheServerIsNoClosedConnection() {
		for (SQLException rejection : List.of(new SQLException("Unknown database 'shop'", "42000", 1049),
				new SQLException("permission denied for database \"shop\"", "42501"))) {
			SQLException unfilled = new SQLTransientConnectionException(
					"HikariPool-1 - Connection is not available, request timed out after 1001ms (total=0, active=0, idle=0, waiting=2)",
					rejection.getSQLState(), rejection.getErrorCode(), rejection);
			assertThat(JdbcErrors.unknown(unfilled)).isSameAs(unfilled);
		}
	}

}
