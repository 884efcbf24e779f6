package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.Resources;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.SystemSchedulingClock;

/**
 * {@link LockBackend} that keeps locks as rows of a database. The database's clock
 * decides when leases expire. One statement compares and changes owner and state; for
 * shared locks, several statements do so while they lock one row. Waiters poll after a
 * short pause. PostgreSQL also notifies them of releases. A release keeps the lock for
 * the claim that has waited longest, until that claim retries.
 *
 * <p>
 * Every call uses a connection of its own, outside any transaction of the caller, and
 * blocks the calling thread until the database has answered. Thread-safe.
 */
public final class JdbcLockBackend implements LockBackend, AutoCloseable {

	/** The name of this backend. */
	public static final String NAME = "jdbc";

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(true, false, true, true, false,
			Duration.ofMillis(100));

	private static final int NAME_LENGTH = 255;

	/**
	 * How long a waiting writer blocks new readers: several polls, each of which extends
	 * this time.
	 */
	private static final long WRITER_MARK_MICROS = TimeUnit.SECONDS.toMicros(1);

	/**
	 * How long releases consider a claim that waits: several polls, each of which extends
	 * this time.
	 */
	private static final long WAITER_MARK_MICROS = TimeUnit.SECONDS.toMicros(5);

	private final JdbcLockOptions options;

	private final JdbcConnections connections;

	private final ClaimWaits waits;

	private final JdbcLookup lookup;

	private volatile @Nullable JdbcStatements statements;

	/**
	 * Creates the backend. Sends no request.
	 * @param dataSource provides the connections
	 * @param options how locks are kept
	 */
	public JdbcLockBackend(DataSource dataSource, JdbcLockOptions options) {
		// the clock's thread never starts, because nothing is scheduled
		this(dataSource, options, new SystemSchedulingClock("holdfast-jdbc-timer"));
	}

	JdbcLockBackend(DataSource dataSource, JdbcLockOptions options, SchedulingClock clock) {
		this.options = options;
		this.connections = new JdbcConnections(dataSource, options.timeoutSeconds());
		this.waits = new ClaimWaits(this.connections.dataSource(), options, clock);
		this.lookup = new JdbcLookup(this.connections, this::statements, options);
	}

	/**
	 * Checks whether the database can keep locks, and blocks until it responds. Without
	 * this call, the first use detects a problem.
	 * @throws LockBackendException if the database does not respond
	 * @throws LockConfigurationException if the database is not supported or has no such
	 * tables
	 */
	public void verify() {
		try {
			this.lookup.verify();
		}
		catch (SQLException ex) {
			throw JdbcErrors.unreachable(ex, this.options.table());
		}
	}

	/**
	 * Returns the statements that create the tables.
	 * @param table the table's name
	 * @return a script
	 */
	public static String schema(String table) {
		return Resources.text(JdbcLockBackend.class, "schema.sql").replace("${table}", table);
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
	 * A thread with a transaction, or with a persistence context, may have the connection
	 * that the release would wait for. No caller waits for a database that has stopped
	 * responding either.
	 */
	@Override
	public boolean releasesOnCaller() {
		return this.connections.isResponsive() && TransactionSynchronizationManager.getResourceMap().isEmpty();
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		LockName lock = claim.lock();
		try {
			AcquireResult result = (claim.mode() == LockMode.SHARED) ? acquireShared(claim) : acquire(claim);
			if (result instanceof AcquireResult.Acquired || claim.remainingWait().isZero()) {
				this.waits.forget(claim.owner());
			}
			return CompletableFuture.completedFuture(result);
		}
		catch (SQLException ex) {
			if (JdbcErrors.isDuplicate(ex)) {
				return CompletableFuture.completedFuture(this.waits.contended(claim, null, false));
			}
			LockBackendException definite = JdbcErrors.definite(ex, lock, this.options.table());
			LockBackendException exhausted = JdbcErrors.poolExhausted(ex);
			return (definite != null) ? CompletableFuture.failedFuture(definite) : CompletableFuture
				.completedFuture(new AcquireResult.Indeterminate((exhausted != null) ? exhausted : ex));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	/**
	 * Expects a notification only after a rejection. The announcement that follows finds
	 * out whether the lock was released in the meantime.
	 */
	private AcquireResult acquire(Claim claim) throws SQLException {
		JdbcStatements sql = statements();
		Map<String, Object> parameters = parameters(claim, 0);
		return this.connections.direct((connection) -> {
			long token = sql.acquire(connection, claim.owner(), parameters);
			if (token > 0 || claim.remainingWait().isZero()) {
				return result(claim, token, null, false);
			}
			CompletionStage<?> signal = this.waits.expect(claim, sql.notify != null);
			JdbcStatements.Announced announced = sql.announce(connection, parameters);
			return result(claim, announced.free() ? sql.acquire(connection, claim.owner(), parameters) : 0, signal,
					announced.first());
		});
	}

	/** Expects a notification before the transaction that may announce the reader. */
	private AcquireResult acquireShared(Claim claim) throws SQLException {
		CompletionStage<?> signal = this.waits.expect(claim, statements().notify != null);
		SharedRows.Attempt attempt = sharedRows(parameters(claim, 0)).acquire(!claim.remainingWait().isZero());
		return result(claim, attempt.token(), signal, attempt.first());
	}

	private AcquireResult result(Claim claim, long token, @Nullable CompletionStage<?> signal, boolean first) {
		return (token > 0) ? new AcquireResult.Acquired(new Grant(claim, token, claim.leaseTime()))
				: this.waits.contended(claim, signal, first);
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		try {
			return CompletableFuture
				.completedFuture(new JdbcRenewals(this.connections, statements(), this.options).renew(grants));
		}
		catch (SQLException | RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		try {
			JdbcStatements sql = statements();
			Map<String, Object> parameters = parameters(grant.claim(), grant.storeToken());
			boolean released = grant.claim().mode() == LockMode.SHARED ? sharedRows(parameters).release()
					: this.connections.direct((connection) -> sql.release(connection, parameters));
			return CompletableFuture
				.completedFuture(released ? new ReleaseResult.Released() : new ReleaseResult.NotHeld());
		}
		catch (SQLException | RuntimeException ex) {
			return CompletableFuture.completedFuture(new ReleaseResult.Indeterminate(ex));
		}
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		this.waits.forget(claim.owner());
		try {
			JdbcStatements sql = statements();
			Map<String, Object> parameters = parameters(claim, 0);
			if (claim.mode() == LockMode.SHARED) {
				sharedRows(parameters).abandon();
			}
			else {
				this.connections.single((jdbc) -> {
					jdbc.update(sql.abandon, parameters);
					sql.notifyWaiters(jdbc, parameters);
					return true;
				});
			}
			return CompletableFuture.completedFuture(null);
		}
		catch (SQLException | RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public CompletionStage<LockState> find(LockName lock) {
		return this.lookup.find(lock);
	}

	@Override
	public CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		return this.lookup.explained(LockBackend.super.revoke(lock, holder));
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return this.lookup.status();
	}

	private SharedRows sharedRows(Map<String, Object> parameters) throws SQLException {
		return new SharedRows(this.connections, statements(), parameters);
	}

	private Map<String, Object> parameters(Claim claim, long token) {
		return Map.of("id", this.options.id(claim.lock()), "name", LockDigest.readable(claim.lock(), NAME_LENGTH),
				"owner", claim.owner().value(), "lease", TimeUnit.NANOSECONDS.toMicros(claim.leaseTime().toNanos()),
				"mark", WRITER_MARK_MICROS, "token", token, "await", WAITER_MARK_MICROS, "writes",
				(claim.mode() == LockMode.EXCLUSIVE) ? 1 : 0, "waited", this.waits.waitedMicros(claim.owner()),
				"reserve", TimeUnit.MILLISECONDS.toMicros(this.options.responseTimeout().toMillis()));
	}

	private JdbcStatements statements() throws SQLException {
		JdbcStatements known = this.statements;
		if (known == null) {
			known = new JdbcStatements(this.connections.dialect(), this.options.table(), this.options.timeoutSeconds());
			this.statements = known;
		}
		return known;
	}

	/** Stops listening for releases. */
	@Override
	public void close() {
		this.waits.close();
	}

}
