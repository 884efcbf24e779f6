package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.support.GuardedLog;

/**
 * A connection that keeps the lock of one claim, or waits for it. It returns to its pool
 * only without a lock and with the settings that it had; otherwise it is closed, which
 * ends the session and frees the lock.
 *
 * <p>
 * Not thread-safe, except for {@link #abort()}.
 */
final class AdvisoryConnection {

	private static final GuardedLog logger = GuardedLog.of(AdvisoryConnection.class);

	private static final String PROCESS = UUID.randomUUID().toString();

	/** The server counts timeouts in milliseconds of 31 bits. */
	private static final long LONGEST_MILLIS = Integer.MAX_VALUE;

	/** A claim that waits longer asks again, and loses its position in the queue. */
	private static final long LONGEST_WAIT_MILLIS = Duration.ofDays(1).toMillis();

	private final BorrowedConnection borrowed;

	private final Connection connection;

	private final AdvisoryStatements sql;

	private final Map<String, Object> parameters = new HashMap<>();

	private final int timeoutMillis;

	AdvisoryConnection(BorrowedConnection borrowed, AdvisoryStatements sql, long key, Claim claim, int timeoutMillis)
			throws SQLException {
		this.borrowed = borrowed;
		this.connection = borrowed.connection();
		this.sql = sql;
		this.timeoutMillis = timeoutMillis;
		this.parameters.put("key", key);
		this.parameters.put("owner", claim.owner().value());
		this.parameters.put("lease", Long.toString(lease(claim).toMillis()));
		this.parameters.put("timeout", Long.toString(timeoutMillis));
		this.parameters.put("connection", name(this.connection));
		this.parameters.put("waits", claim.remainingWait().isZero() ? 0 : 1);
	}

	/**
	 * Returns the name of a physical connection, which it keeps as long as it exists,
	 * although a pooler may give it other sessions of the server.
	 */
	private static String name(Connection connection) throws SQLException {
		try {
			return connection.isWrapperFor(PGConnection.class)
					? PROCESS + "." + System.identityHashCode(connection.unwrap(PGConnection.class)) : PROCESS;
		}
		catch (LinkageError ex) {
			// another driver, whose connections have no names: a shared session is found
			// later
			return PROCESS;
		}
	}

	/** Returns the lease that the server can keep, in whole milliseconds. */
	static Duration lease(Claim claim) {
		long millis = Math.min(claim.leaseTime().plusNanos(999_999).toMillis(), LONGEST_MILLIS);
		return Duration.ofMillis(millis);
	}

	/** Acquires the lock if it is free and no session waits for it. */
	Response tryLock() throws SQLException {
		Response response = attempt();
		if (!response.isReady()) {
			this.sql.advanceTokens.first(this.connection, this.parameters::get, (row) -> true);
			response = attempt();
		}
		if (!response.isReady()) {
			throw sharedSession("Two statements of one connection reached different sessions of PostgreSQL");
		}
		return response;
	}

	private static LockBackendException sharedSession(String fact) {
		return new LockBackendException(fact
				+ ", so it cannot keep advisory locks (backend jdbc). Connect without a pooler that shares sessions, such as PgBouncer in the mode 'transaction', or set 'distributed-lock.jdbc.mode=rows'.");
	}

	/**
	 * Makes one attempt, unless the session has yet to advance the sequence of the
	 * tokens.
	 */
	private Response attempt() throws SQLException {
		Response response = this.sql.acquire.first(this.connection, this.parameters::get, (row) -> {
			this.parameters.put("name", row.getString(1));
			this.parameters.put("idle", row.getString(2));
			this.parameters.put("present", row.getString(6));
			if (row.getBoolean(7)) {
				throw sharedSession("Another connection has used the same session of PostgreSQL");
			}
			return row.getBoolean(3) ? response(row.getLong(4), row.getLong(5)) : Response.NOT_READY;
		});
		return (response != null) ? response : Response.NOT_READY;
	}

	private Response response(long token, long micros) {
		this.parameters.put("token", Long.toString(token));
		return new Response(token, micros);
	}

	/**
	 * Waits for the lock. The server then keeps it for a short time, in which the claim
	 * has to be made again.
	 * @param started receives the statement, to cancel it
	 */
	Response awaitLock(Duration wait, Consumer<Statement> started) throws SQLException {
		Map<String, Object> waiting = new HashMap<>(this.parameters);
		long millis = Math.max(1, Math.min(wait.toMillis(), LONGEST_WAIT_MILLIS));
		waiting.put("wait", Long.toString(millis));
		waiting.put("lease", Long.toString(this.timeoutMillis));
		int limit = this.borrowed.networkTimeout((int) millis + this.timeoutMillis);
		try (PreparedStatement statement = this.sql.await.prepare(this.connection, waiting::get)) {
			started.accept(statement);
			try (ResultSet row = statement.executeQuery()) {
				row.next();
				return response(row.getLong(1), row.getLong(2));
			}
		}
		finally {
			this.borrowed.networkTimeout(limit);
		}
	}

	/**
	 * Restarts the lease.
	 * @return {@code false} if this is no longer the session that has the lock
	 */
	boolean extend() throws SQLException {
		return this.sql.extend.first(this.connection, this.parameters::get, (row) -> true) != null;
	}

	/**
	 * Releases the lock, restores the settings of the session, and returns the connection
	 * to its pool. If the outcome is unknown, the end of the session releases the lock.
	 */
	ReleaseResult release() {
		try {
			Boolean released = this.sql.release.first(this.connection, this.parameters::get,
					(row) -> row.getBoolean(1));
			if (Boolean.TRUE.equals(released)) {
				returnToPool();
				return new ReleaseResult.Released();
			}
			discard(null);
			return new ReleaseResult.NotHeld();
		}
		catch (SQLException | RuntimeException ex) {
			discard(ex);
			return new ReleaseResult.Indeterminate(ex);
		}
	}

	/** Returns the connection to its pool after a wait that has failed. */
	void returnAfter(Throwable failure) {
		if (failure instanceof SQLException ex && isGone(ex)) {
			discard(ex);
			return;
		}
		try {
			// the statement may have locked before it was canceled
			this.sql.clean.first(this.connection, this.parameters::get, (row) -> true);
			returnToPool();
		}
		catch (SQLException | RuntimeException ex) {
			discard(ex);
		}
	}

	/** Whether the session has ended, after an exception. */
	boolean isGone(SQLException ex) {
		try {
			return AdvisoryErrors.endsSession(ex) || this.connection.isClosed();
		}
		catch (SQLException unknown) {
			return true;
		}
	}

	/** Returns the connection, which has no lock, to its pool. */
	void returnToPool() {
		try {
			this.borrowed.close();
		}
		catch (SQLException ex) {
			logger.debug("A connection could not be returned to its pool", ex);
			abort();
		}
	}

	/** Ends the session, and with it the lock, and removes it from the pool. */
	void discard(@Nullable Throwable cause) {
		logger.debug("A connection that may have an advisory lock is closed", cause);
		abort();
		try {
			// its pool detects here that it is closed
			this.borrowed.close();
		}
		catch (SQLException ex) {
			logger.trace("A closed connection was returned to its pool", ex);
		}
	}

	/** Closes the connection at once, whichever thread uses it. */
	void abort() {
		try {
			this.connection.abort(Runnable::run);
		}
		catch (SQLException ex) {
			logger.debug("A connection could not be aborted", ex);
		}
	}

	/**
	 * The response to an attempt or a wait.
	 *
	 * @param token the token, or zero if the lock was not granted
	 * @param micros the time of the database in microseconds
	 */
	record Response(long token, long micros) {

		/** The session has yet to advance the sequence of the tokens. */
		private static final Response NOT_READY = new Response(-1, 0);

		private boolean isReady() {
			return this != NOT_READY;
		}

	}

}
