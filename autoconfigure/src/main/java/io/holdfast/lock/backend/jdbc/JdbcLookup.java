package io.holdfast.lock.backend.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import org.springframework.jdbc.core.ConnectionCallback;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.Stages;
import io.holdfast.lock.support.TableChecks;

/**
 * Answers the questions of operators about locks in the database, and about the database
 * itself. Blocks until it has answered.
 *
 * @param connections provides the connections
 * @param statements returns the statements
 * @param options how locks are kept
 */
record JdbcLookup(JdbcConnections connections, StatementSource statements, JdbcLockOptions options) {

	private static final GuardedLog logger = GuardedLog.of(JdbcLookup.class);

	private static final String EMPTY_TEXT = "SELECT CASE WHEN '' = '' THEN 1 ELSE 0 END";

	/**
	 * The database knows the first waiter, and when the latest claim announced that it
	 * waits. So it tells if none waits behind a writer, but not how many do.
	 */
	CompletionStage<LockState> find(LockName lock) {
		try {
			JdbcStatements sql = this.statements.get();
			List<Found> found = this.connections.single((jdbc) -> jdbc.query(sql.findHolders,
					Map.of("id", this.options.id(lock)), (row, number) -> found(row)));
			Integer waiters = found.stream().anyMatch(Found::unwanted) ? 0 : null;
			return CompletableFuture.completedStage(
					new LockState(lock, JdbcLockBackend.NAME, found.stream().map(Found::holder).toList(), waiters));
		}
		catch (SQLException ex) {
			return CompletableFuture.failedStage(JdbcErrors.ofQuery(ex, this.options.table()));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	private static Found found(ResultSet row) throws SQLException {
		return new Found(
				new LockState.Holder(row.getString(1), LockMode.valueOf(row.getString(4)),
						Grant.fencingTokenOf(row.getLong(2)), Duration.of(row.getLong(3), ChronoUnit.MICROS)),
				row.getInt(5) == 1);
	}

	/** Releases an exclusive lock by force. */
	CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		Map<String, Object> parameters = Map.of("id", this.options.id(lock), "owner", holder.ownerId(), "token",
				storeToken(holder.token()), "reserve",
				TimeUnit.MILLISECONDS.toMicros(this.options.responseTimeout().toMillis()));
		try {
			JdbcStatements sql = this.statements.get();
			return CompletableFuture
				.completedStage(this.connections.direct((connection) -> sql.revoke(connection, parameters)));
		}
		catch (SQLException ex) {
			return CompletableFuture.failedStage(JdbcErrors.ofQuery(ex, this.options.table()));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	/** The rest of a fencing token counts the holds of the lease. */
	static long storeToken(FencingToken token) {
		return token.value() / Grant.fencingTokenOf(1).value();
	}

	/** Names the remedy if a request has failed because of the database. */
	<T> CompletionStage<T> explained(CompletionStage<T> answer) {
		return answer.exceptionallyCompose(
				(failure) -> CompletableFuture.failedStage((Stages.cause(failure) instanceof SQLException ex)
						? JdbcErrors.ofQuery(ex, this.options.table()) : failure));
	}

	/**
	 * Fails unless both tables exist and can be read, and the rows of locks can be
	 * changed: a read-only database does not lock rows.
	 */
	void verify() throws SQLException {
		JdbcStatements sql = this.statements.get();
		this.connections.single((jdbc) -> jdbc.queryForList(sql.probe, Map.of()));
		this.connections.together((jdbc) -> jdbc.queryForList(sql.lockRows, Map.of("ids", List.of(""))));
	}

	/**
	 * Fails unless the user has all rights that locks need, the tables have transactions,
	 * and an empty text is one.
	 */
	void verifyUse() throws SQLException {
		if (this.connections.single((jdbc) -> jdbc.queryForList(EMPTY_TEXT, Map.of(), Integer.class)).contains(0)) {
			throw new LockConfigurationException(
					"Backend 'jdbc': the database treats an empty text as NULL, as H2 with MODE=Oracle and MariaDB with the sql_mode EMPTY_STRING_IS_NULL do. Choose another mode for the connections of this DataSource.");
		}
		for (String probe : this.statements.get().probesOfRights()) {
			this.connections.single((jdbc) -> jdbc.update(probe, Map.of()));
		}
		requireUsable(this.options.table(), "lock_id");
		requireUsable(this.options.table() + "_reader", "lock_id,owner");
		verifyToken();
		warnOfForgottenCommits();
	}

	private void verifyToken() throws SQLException {
		AcquireStatements acquire = this.statements.get().acquire;
		if (acquire.returnsTokenAsKey()) {
			this.connections
				.together((jdbc) -> jdbc.getJdbcOperations().execute((ConnectionCallback<Boolean>) (connection) -> {
					acquire.verifyToken(connection);
					return true;
				}));
		}
	}

	private void warnOfForgottenCommits() throws SQLException {
		String setting = this.connections.dialect().delayOfCommits();
		if (!setting.isEmpty()) {
			this.connections.single((jdbc) -> jdbc.queryForList(setting, Map.of(), String.class))
				.forEach((delay) -> logger.warn(
						"The database of the backend 'jdbc' may forget locks if its process ends abruptly, and then grant a lock that is still held: %s."
							.formatted(delay)));
		}
	}

	private void requireUsable(String table, String key) throws SQLException {
		Optional<String> problem = this.connections
			.single((jdbc) -> Optional.ofNullable(TableChecks.problem(jdbc.getJdbcOperations(), table, key)));
		if (problem.isPresent()) {
			throw new LockConfigurationException("Backend 'jdbc': " + problem.get());
		}
	}

	CompletionStage<StoreStatus> status() {
		try {
			verify();
			return CompletableFuture
				.completedStage(StoreStatus.available(Map.of("database", this.connections.dialect().name())));
		}
		catch (SQLException ex) {
			return CompletableFuture.failedStage(JdbcErrors.ofQuery(ex, this.options.table()));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedStage(ex);
		}
	}

	/**
	 * A holder that the database knows.
	 *
	 * @param holder the holder
	 * @param unwanted whether no claim waits for its lock
	 */
	private record Found(LockState.Holder holder, boolean unwanted) {
	}

	/** Determines the statements at their first use, which needs the database. */
	@FunctionalInterface
	interface StatementSource {

		JdbcStatements get() throws SQLException;

	}

}
