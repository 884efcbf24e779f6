package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;

import javax.sql.DataSource;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.GuardedLog;

/**
 * Lock backend for PostgreSQL 14 or later, which keeps each lock as an advisory lock of a
 * session. Every lock that is held or waited for occupies a connection. The server ends
 * the session, and with it the lock, when it has received no statement for as long as the
 * lease lasts. A session can also end earlier, so {@link #confirm} asks the server.
 *
 * <p>
 * Waiters are in the queue of the server, which grants a released lock to the first one.
 * Every call blocks the calling thread until the database has answered. Thread-safe.
 */
public final class AdvisoryLockBackend implements LockBackend, AutoCloseable {

	/** The name of this backend, which is a mode of the backend for databases. */
	public static final String NAME = JdbcLockBackend.NAME;

	private static final GuardedLog logger = GuardedLog.of(AdvisoryLockBackend.class);

	private static final RenewResult NO_RESPONSE = new RenewResult.Indeterminate(
			new TimeoutException("the session of the lock has not responded yet"));

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(Duration.ofMillis(100),
			Capability.SHARED, Capability.WAIT_QUEUE, Capability.BLOCKING);

	private final DataSource dataSource;

	private final AdvisoryLockOptions options;

	private final AdvisoryErrors errors;

	private final AdvisorySessions sessions;

	private final AdvisoryLookup lookup;

	/**
	 * Creates the backend. Sends no request.
	 * @param dataSource provides the connections of locks; its pool should not be that of
	 * the application's transactions, which would wait for connections of their own locks
	 * @param queries provides connections for a short time, for checks and operators.
	 * With another pool, these also work while locks use up their own
	 * @param options how locks are kept
	 */
	public AdvisoryLockBackend(DataSource dataSource, DataSource queries, AdvisoryLockOptions options) {
		this.dataSource = dataSource;
		this.options = options;
		this.errors = new AdvisoryErrors(options);
		this.sessions = new AdvisorySessions(new JdbcConnections(dataSource, options.timeoutSeconds()), options);
		this.lookup = new AdvisoryLookup(new JdbcConnections(queries, options.timeoutSeconds()), options);
	}

	/**
	 * Checks whether the database can keep locks, and blocks until it responds. Without
	 * this call, the first use detects a problem.
	 * @throws LockBackendException if the database does not respond
	 * @throws LockConfigurationException if the database is not supported or has no such
	 * sequence
	 */
	public void verify() {
		try {
			this.lookup.verify();
		}
		catch (SQLException ex) {
			throw this.errors.unreachable(ex);
		}
	}

	/**
	 * Returns the statement that creates the sequence of the tokens.
	 * @param table the name of the table in the mode {@code rows}
	 * @return a script
	 */
	public static String schema(String table) {
		return AdvisoryStatements.text("schema").replace("${table}", table);
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public BackendCapabilities capabilities() {
		return CAPABILITIES;
	}

	/**
	 * A release uses the connection that has the lock, so it waits for no other. Returns
	 * {@code false} while the database does not respond, because no caller waits for it.
	 */
	@Override
	public boolean releasesOnCaller() {
		return this.sessions.isResponsive();
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		try {
			AcquireResult result = this.sessions.attempt(claim);
			this.sessions.responded(true);
			return CompletableFuture.completedFuture(result);
		}
		catch (SQLException ex) {
			this.sessions.responded(false);
			LockBackendException definite = this.errors.definite(ex, claim.lock());
			return (definite != null) ? CompletableFuture.failedFuture(definite)
					: CompletableFuture.completedFuture(new AcquireResult.Indeterminate(this.errors.unknown(ex)));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Sends one short statement for each grant at the same time, because each has a
	 * session of its own. A session that does not respond delays the others only for a
	 * part of the response timeout.
	 */
	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		return CompletableFuture.completedFuture((grants.size() == 1) ? List.of(renew(grants.get(0)))
				: this.sessions.all(grants, this::renew, NO_RESPONSE));
	}

	private RenewResult renew(Grant grant) {
		try {
			return this.sessions.extend(grant) ? new RenewResult.Renewed(AdvisoryConnection.lease(grant.claim()))
					: new RenewResult.Refused();
		}
		catch (SQLException | RuntimeException ex) {
			return new RenewResult.Indeterminate(ex);
		}
	}

	/**
	 * Asks the server, because the session may have ended before its lease, for example
	 * with its connection.
	 */
	@Override
	public CompletionStage<Boolean> confirm(Grant grant) {
		try {
			return CompletableFuture.completedFuture(this.sessions.extend(grant));
		}
		catch (SQLException | RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		AdvisorySession session = this.sessions.find(grant.claim().owner());
		return CompletableFuture
			.completedFuture((session != null) ? session.release(grant) : new ReleaseResult.NotHeld());
	}

	/** A lock lives with its session, so it cannot outlive this client. */
	@Override
	public CompletionStage<Boolean> retain(Grant grant, Duration remaining) {
		return CompletableFuture.completedFuture(false);
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		AdvisorySession session = this.sessions.find(claim.owner());
		try {
			if (session != null) {
				session.abandon();
			}
			return CompletableFuture.completedFuture(null);
		}
		catch (RuntimeException ex) {
			// the backend was closed meanwhile
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return query(() -> this.lookup.find(lock));
	}

	/**
	 * Ends the session that has the lock, in which its owner and token are named. The
	 * holder learns of it at its next renewal, or before it commits.
	 */
	@Override
	public CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		try {
			return CompletableFuture.completedFuture(this.lookup.revoke(lock, holder));
		}
		catch (SQLException ex) {
			return CompletableFuture.failedFuture(this.errors.ofRevocation(ex, lock));
		}
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return query(() -> StoreStatus.available(Map.of("database", JdbcDialect.POSTGRESQL.name(), "version",
				this.lookup.verify(), "mode", "advisory")));
	}

	private <T> CompletionStage<T> query(Query<T> query) {
		try {
			return CompletableFuture.completedFuture(query.run());
		}
		catch (SQLException ex) {
			return CompletableFuture.failedFuture(this.errors.ofQuery(ex));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/** Returns the number of claims that hold or await a lock. */
	int sessions() {
		return this.sessions.size();
	}

	/** Ends all sessions, and closes the pool if it is the backend's own. */
	@Override
	public void close() {
		this.sessions.close();
		if (this.options.ownPool() && this.dataSource instanceof AutoCloseable pool) {
			try {
				pool.close();
			}
			catch (Exception ex) {
				logger.debug("The connection pool for locks could not be closed", ex);
			}
		}
	}

	/**
	 * A question to the database.
	 *
	 * @param <T> the answer
	 */
	@FunctionalInterface
	private interface Query<T> {

		T run() throws SQLException;

	}

}
