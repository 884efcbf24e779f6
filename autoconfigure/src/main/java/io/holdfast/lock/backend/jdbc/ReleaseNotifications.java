package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;

import javax.sql.DataSource;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Threads;

/**
 * Receives release notifications from PostgreSQL and signals the waiting claims. One
 * thread listens on one connection while claims wait, and ten seconds longer. Without
 * this connection, waiting claims poll.
 */
final class ReleaseNotifications implements AutoCloseable {

	/** The channel's name, which statements use as well. */
	static final String CHANNEL = "holdfast";

	private static final Log logger = LogFactory.getLog(ReleaseNotifications.class);

	private static final int POLL_MILLIS = 250;

	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

	private final DataSource dataSource;

	private final SchedulingClock clock;

	private final Map<OwnerId, Expected> expected = new ConcurrentHashMap<>();

	private final AtomicBoolean running = new AtomicBoolean();

	private volatile boolean listening;

	private volatile boolean closed;

	ReleaseNotifications(DataSource dataSource, SchedulingClock clock) {
		this.dataSource = dataSource;
		this.clock = clock;
	}

	/**
	 * Returns a signal for the release of a lock. A release before this call is missed.
	 */
	CompletionStage<?> expect(Claim claim, String lockId) {
		Expected own = new Expected(lockId, this.clock.nanos() + claim.remainingWait().toNanos() + IDLE_NANOS,
				new CompletableFuture<>());
		this.expected.put(claim.owner(), own);
		listen();
		return own.signal().minimalCompletionStage();
	}

	void forget(OwnerId owner) {
		this.expected.remove(owner);
	}

	/** Whether a release would be noticed at this moment. */
	boolean isListening() {
		return this.listening;
	}

	private void listen() {
		if (!this.closed && this.running.compareAndSet(false, true)) {
			Threads.daemon("holdfast-jdbc-listener", this::run).start();
		}
	}

	private void run() {
		try {
			while (!this.closed && !this.expected.isEmpty()) {
				try (BorrowedConnection borrowed = new BorrowedConnection(this.dataSource)) {
					borrowed.autoCommit(true);
					listen(borrowed.connection());
				}
				catch (SQLException | RuntimeException ex) {
					logger.debug("Cannot listen for release notifications; waiters poll instead", ex);
					LockSupport.parkNanos(RETRY_NANOS);
				}
			}
		}
		finally {
			this.running.set(false);
		}
		if (!this.expected.isEmpty()) {
			listen();
		}
	}

	private void listen(Connection connection) throws SQLException {
		PGConnection postgres = connection.unwrap(PGConnection.class);
		try (Statement statement = connection.createStatement()) {
			statement.execute("LISTEN " + CHANNEL);
			this.listening = true;
			listen(postgres);
			statement.execute("UNLISTEN " + CHANNEL);
		}
		finally {
			this.listening = false;
			// claims rejected a moment ago may rely on this connection: let them retry
			this.expected.values().forEach((waiter) -> waiter.signal().complete(null));
		}
	}

	private void listen(PGConnection postgres) throws SQLException {
		long lastWaiter = this.clock.nanos();
		while (!this.closed && this.clock.nanos() - lastWaiter < IDLE_NANOS) {
			for (PGNotification news : postgres.getNotifications(POLL_MILLIS)) {
				wake(news.getParameter());
			}
			long now = this.clock.nanos();
			this.expected.values().removeIf((waiter) -> now - waiter.until() > 0);
			if (!this.expected.isEmpty()) {
				lastWaiter = now;
			}
		}
	}

	private void wake(String lockId) {
		this.expected.values()
			.stream()
			.filter((waiter) -> waiter.lockId().equals(lockId))
			.forEach((waiter) -> waiter.signal().complete(null));
	}

	@Override
	public void close() {
		this.closed = true;
	}

	/**
	 * A waiting claim.
	 *
	 * @param lockId the id of its lock
	 * @param until when to remove the claim, in nanoseconds of the clock
	 * @param signal completed when the lock was released
	 */
	private record Expected(String lockId, long until, CompletableFuture<Void> signal) {
	}

}
