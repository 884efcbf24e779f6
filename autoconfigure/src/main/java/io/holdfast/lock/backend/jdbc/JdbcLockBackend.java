package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

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
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;
import io.holdfast.lock.support.Resources;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.SystemSchedulingClock;

/**
 * Lock backend for databases, which keeps locks as rows of a table. The database's clock
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

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(Duration.ofMillis(100),
			Capability.SHARED, Capability.WAIT_QUEUE, Capability.BLOCKING);

	/** On PostgreSQL, instances can demand the leases of others. */
	private static final BackendCapabilities WITH_DEMAND = new BackendCapabilities(Duration.ofMillis(100),
			Capability.SHARED, Capability.WAIT_QUEUE, Capability.BLOCKING, Capability.DEMAND);

	private final JdbcLockOptions options;

	private final JdbcConnections connections;

	private final ClaimWaits waits;

	private final JdbcLookup lookup;

	private final JdbcClaims claims;

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
		this.waits = new ClaimWaits(this.connections, options, clock);
		this.lookup = new JdbcLookup(this.connections, this::statements, options);
		this.claims = new JdbcClaims(this.connections, this::statements, this.waits, options);
	}

	/**
	 * Checks whether the database can keep locks, and blocks until it responds. Without
	 * this call, the first use detects a problem.
	 * @throws LockBackendException if the database does not respond
	 * @throws LockConfigurationException if the database is not supported, has no such
	 * tables, or denies the rights to use them
	 */
	public void verify() {
		try {
			this.lookup.verify();
			this.lookup.verifyUse();
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

	/**
	 * The capability {@code demand} requires PostgreSQL and
	 * {@link JdbcLockOptions#listen}. PostgreSQL is assumed until a connection was used,
	 * as in {@link #verify()}.
	 */
	@Override
	public BackendCapabilities capabilities() {
		return (this.options.listen() && this.connections.mayNotify()) ? WITH_DEMAND : CAPABILITIES;
	}

	/**
	 * Returns {@code false} on a thread with a transaction or a persistence context,
	 * which may have the connection that the release would wait for. Also returns
	 * {@code false} while the database does not respond, because no caller waits for it.
	 */
	@Override
	public boolean releasesOnCaller() {
		return this.connections.isResponsive() && TransactionSynchronizationManager.getResourceMap().isEmpty();
	}

	@Override
	public boolean findsOnCaller() {
		return releasesOnCaller();
	}

	@Override
	public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
		LockName lock = claim.lock();
		long number = this.waits.nextAttempt();
		try {
			return CompletableFuture.completedFuture(this.claims.send(claim, number));
		}
		catch (SQLException ex) {
			if (JdbcErrors.isDuplicate(ex)) {
				return CompletableFuture.completedFuture(this.waits.contended(claim, null, false, false));
			}
			LockBackendException definite = JdbcErrors.definite(ex, lock, this.options.table());
			if (definite != null) {
				return rejected(claim, number, definite);
			}
			return CompletableFuture.completedFuture(new AcquireResult.Indeterminate(JdbcErrors.unknown(ex)));
		}
		catch (RuntimeException ex) {
			return rejected(claim, number, ex);
		}
	}

	/**
	 * Forgets a claim that has failed: the engine does not withdraw it if nothing of it
	 * is left. A later attempt may wait by now.
	 */
	private CompletionStage<AcquireResult> rejected(Claim claim, long number, RuntimeException failure) {
		this.waits.forgetAttempt(claim.owner(), number);
		return CompletableFuture.failedFuture(failure);
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
		try {
			List<RenewResult> results = new JdbcRenewals(this.connections, statements(), this.options).renew(grants);
			for (int i = 0; i < results.size(); i++) {
				if (results.get(i) instanceof RenewResult.Refused) {
					this.waits.forgetDemand(grants.get(i).claim().owner());
				}
			}
			return CompletableFuture.completedFuture(results);
		}
		catch (SQLException | RuntimeException ex) {
			return CompletableFuture.failedFuture(ex);
		}
	}

	@Override
	public CompletionStage<ReleaseResult> release(Grant grant) {
		this.waits.forgetDemand(grant.claim().owner());
		try {
			JdbcStatements sql = statements();
			ClaimParameters parameters = this.claims.parameters(grant.claim(), grant.storeToken());
			boolean released = grant.claim().mode() == LockMode.SHARED ? sharedRows(parameters).release()
					: this.connections.direct((connection) -> sql.release(connection, parameters));
			return CompletableFuture
				.completedFuture(released ? new ReleaseResult.Released() : new ReleaseResult.NotHeld());
		}
		catch (SQLException ex) {
			return CompletableFuture.completedFuture(new ReleaseResult.Indeterminate(JdbcErrors.unknown(ex)));
		}
		catch (RuntimeException ex) {
			return CompletableFuture.completedFuture(new ReleaseResult.Indeterminate(ex));
		}
	}

	@Override
	public CompletionStage<Void> abandon(Claim claim) {
		this.waits.forget(claim.owner());
		this.waits.forgetDemand(claim.owner());
		try {
			JdbcStatements sql = statements();
			ClaimParameters parameters = this.claims.parameters(claim, 0);
			if (claim.mode() == LockMode.SHARED) {
				sharedRows(parameters).abandon();
			}
			else {
				this.connections.single((jdbc) -> {
					jdbc.update(sql.abandon, parameters);
					sql.notifyIfPossible(jdbc, parameters);
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

	/**
	 * Revokes the lease and, if it is sticky, demands it from the holder's instance.
	 * Otherwise, callers of that instance could take over an idle lease beside the next
	 * holder, until its next renewal.
	 */
	@Override
	public CompletionStage<Boolean> revoke(LockName lock, LockState.Holder holder) {
		return (holder.mode() == LockMode.EXCLUSIVE) ? this.lookup.revoke(lock, holder)
				: this.lookup.explained(LockBackend.super.revoke(lock, holder));
	}

	@Override
	public CompletionStage<StoreStatus> status() {
		return this.lookup.status();
	}

	private SharedRows sharedRows(ClaimParameters parameters) throws SQLException {
		return new SharedRows(this.connections, statements(), parameters);
	}

	private JdbcStatements statements() throws SQLException {
		JdbcStatements known = this.statements;
		if (known == null) {
			known = new JdbcStatements(new StatementTexts(this.connections.dialect(), this.options.table(),
					this.options.timeoutSeconds()));
			this.statements = known;
		}
		return known;
	}

	/** Returns how many claims and sticky leases expect a notification. */
	int waiting() {
		return this.waits.size();
	}

	/** Stops listening for releases. */
	@Override
	public void close() {
		this.waits.close();
	}

}
