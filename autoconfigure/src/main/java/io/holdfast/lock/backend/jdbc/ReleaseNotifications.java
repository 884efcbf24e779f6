package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;
import org.postgresql.PGNotification;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Threads;

/**
 * Receives notifications from PostgreSQL. A notification is the {@linkplain ReleaseNotice
 * notice} of a release, which signals the claims that wait for the lock, or
 * {@code wanted:} and the owner id of a sticky lease that another instance demands.
 *
 * <p>
 * One thread listens on one connection while claims wait or leases are sticky, and ten
 * seconds longer. Without this connection, waiting claims poll and no lease is sticky.
 */
final class ReleaseNotifications implements AutoCloseable {

	/** The channel's name, which statements use as well. */
	static final String CHANNEL = "holdfast";

	/** Starts the demand for a sticky lease; the id of a lock has no colon. */
	static final String WANTED = "wanted:";

	private static final GuardedLog logger = GuardedLog.of(ReleaseNotifications.class);

	private static final int POLL_MILLIS = 250;

	private static final long LONGEST_CLOSE_MILLIS = 4 * POLL_MILLIS;

	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

	/** How often to check a connection that demands of sticky leases depend on. */
	private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(5);

	private static final int CHECK_TIMEOUT_SECONDS = 2;

	private final JdbcConnections connections;

	private final SchedulingClock clock;

	private final Map<OwnerId, Expected> expected = new ConcurrentHashMap<>();

	/** Demands for the sticky leases of this instance, by the owner id. */
	private final Map<String, Demand> demands = new ConcurrentHashMap<>();

	private final AtomicBoolean running = new AtomicBoolean();

	private volatile boolean listening;

	private volatile boolean closed;

	private volatile @Nullable Thread thread;

	ReleaseNotifications(JdbcConnections connections, SchedulingClock clock) {
		this.connections = connections;
		this.clock = clock;
	}

	/**
	 * Returns a signal for the release of a lock. A release before this call is missed.
	 */
	CompletionStage<@Nullable ReleaseNotice> expect(Claim claim, String lockId) {
		Expected own = new Expected(lockId, this.clock.nanos() + claim.remainingWait().toNanos() + IDLE_NANOS,
				new CompletableFuture<>());
		this.expected.put(claim.owner(), own);
		listen();
		return own.signal().minimalCompletionStage();
	}

	void forget(OwnerId owner) {
		this.expected.remove(owner);
	}

	/**
	 * Returns a signal for the demand of a lease, which all attempts of a claim share. It
	 * also completes when the connection is lost. In this order: the thread that loses
	 * the connection either sees the new signal or is seen here.
	 * @return the signal, or {@code null} if this instance does not listen yet
	 */
	@Nullable CompletionStage<?> expectDemand(OwnerId owner) {
		Demand wanted = Objects.requireNonNull(this.demands.merge(owner.value(),
				new Demand(new CompletableFuture<>(), 1), (present, added) -> present.expectedBy(1)));
		listen();
		if (this.listening) {
			return wanted.signal().minimalCompletionStage();
		}
		dismissDemand(owner);
		return null;
	}

	/** Signals that another claim waits for a sticky lease. */
	void demand(String owner) {
		Demand wanted = this.demands.get(owner);
		if (wanted != null) {
			wanted.signal().complete(null);
		}
	}

	/**
	 * Ends the expectation of an attempt that was not granted. Its response may be late,
	 * when another attempt has got the lease.
	 */
	void dismissDemand(OwnerId owner) {
		this.demands.computeIfPresent(owner.value(),
				(key, present) -> (present.attempts() == 1) ? null : present.expectedBy(-1));
	}

	void forgetDemand(OwnerId owner) {
		this.demands.remove(owner.value());
	}

	/** Returns the number of claims that wait and of sticky leases. */
	int size() {
		return this.expected.size() + this.demands.size();
	}

	/** Whether a release would be noticed at this moment. */
	boolean isListening() {
		return this.listening;
	}

	private void listen() {
		if (!this.closed && this.running.compareAndSet(false, true)) {
			Thread listener = Threads.daemon("holdfast-jdbc-listener", this::run);
			this.thread = listener;
			try {
				listener.start();
			}
			catch (Error ex) {
				// no thread is left; the next claim tries again
				this.running.set(false);
				throw ex;
			}
		}
	}

	private void run() {
		try {
			do {
				try (BorrowedConnection borrowed = this.connections.keep()) {
					listen(borrowed);
				}
				catch (SQLException | RuntimeException ex) {
					logger.debug("Cannot listen for release notifications; waiters poll instead", ex);
					LockSupport.parkNanos(RETRY_NANOS);
				}
			}
			while (!this.closed && size() > 0);
		}
		finally {
			this.running.set(false);
		}
		if (size() > 0) {
			listen();
		}
	}

	private void listen(BorrowedConnection borrowed) throws SQLException {
		borrowed.listen(CHANNEL);
		this.listening = true;
		try (NotificationReader reader = new NotificationReader(borrowed.connection())) {
			listen(reader, borrowed.connection());
		}
		finally {
			this.listening = false;
			// claims rejected a moment ago may rely on this connection: let them retry
			this.expected.values().forEach((waiter) -> waiter.signal().complete(null));
			// no lease may stay whose demand would not arrive
			this.demands.values().forEach((wanted) -> wanted.signal().complete(null));
		}
	}

	private void listen(NotificationReader reader, Connection connection) throws SQLException {
		long lastWaiter = this.clock.nanos();
		long lastCheck = lastWaiter;
		while (!this.closed && this.clock.nanos() - lastWaiter < IDLE_NANOS) {
			for (PGNotification news : reader.read(POLL_MILLIS)) {
				notified(news.getParameter());
			}
			long now = this.clock.nanos();
			this.expected.values().removeIf((waiter) -> now - waiter.until() > 0);
			if (size() > 0) {
				lastWaiter = now;
			}
			if (!this.demands.isEmpty() && now - lastCheck > CHECK_NANOS) {
				lastCheck = now;
				requireAlive(connection);
			}
		}
	}

	/** A connection may break in silence, and no poll follows a demand that is lost. */
	private static void requireAlive(Connection connection) throws SQLException {
		if (!connection.isValid(CHECK_TIMEOUT_SECONDS)) {
			throw new SQLException("The connection that listens does not respond");
		}
	}

	private void notified(String news) {
		if (news.startsWith(WANTED)) {
			demand(news.substring(WANTED.length()));
		}
		else {
			released(ReleaseNotice.parse(news));
		}
	}

	private void released(ReleaseNotice notice) {
		this.expected.values()
			.stream()
			.filter((waiter) -> waiter.lockId().equals(notice.lockId()))
			.forEach((waiter) -> waiter.signal().complete(notice));
	}

	/**
	 * Waits until the connection is returned: the pool may close right after this
	 * backend. Does not wait for a database that does not respond.
	 */
	@Override
	public void close() {
		this.closed = true;
		Thread listener = this.thread;
		if (listener != null) {
			LockSupport.unpark(listener);
			try {
				listener.join(LONGEST_CLOSE_MILLIS);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
		}
	}

	/**
	 * A waiting claim.
	 *
	 * @param lockId the id of its lock
	 * @param until when to remove the claim, in nanoseconds of the clock
	 * @param signal completed when the lock was released, or with {@code null} when the
	 * connection is lost
	 */
	private record Expected(String lockId, long until, CompletableFuture<@Nullable ReleaseNotice> signal) {
	}

	/**
	 * The demand for a lease.
	 *
	 * @param signal completed when the lease is demanded
	 * @param attempts how many attempts of its claim are under way or were granted
	 */
	private record Demand(CompletableFuture<Void> signal, int attempts) {

		Demand expectedBy(int more) {
			return new Demand(this.signal, this.attempts + more);
		}

	}

}
