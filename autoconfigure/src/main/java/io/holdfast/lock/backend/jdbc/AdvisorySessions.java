package io.holdfast.lock.backend.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SystemSchedulingClock;
import io.holdfast.lock.support.Threads;

/**
 * The sessions of all claims of one backend, and what they need: connections, statements,
 * and the threads that wait for locks. There are at most as many threads as waiting
 * claims, each of which has a connection, so the pool bounds both. Thread-safe.
 */
final class AdvisorySessions implements AutoCloseable {

	private static final long IDLE_SECONDS = 10;

	private static final Duration LONGEST_RETRY = Duration.ofSeconds(10);

	/** The pause before a claim that was rejected without a wait is made again. */
	static final Duration POLL = Duration.ofMillis(100);

	private final JdbcConnections connections;

	private final AdvisoryLockOptions options;

	private final AdvisoryStatements exclusive;

	private final AdvisoryStatements shared;

	private final Map<OwnerId, AdvisorySession> byOwner = new ConcurrentHashMap<>();

	private final ThreadPoolExecutor threads = new ThreadPoolExecutor(0, Integer.MAX_VALUE, IDLE_SECONDS,
			TimeUnit.SECONDS, new SynchronousQueue<>(), Threads.daemons(() -> "holdfast-jdbc-waiter"));

	private final SystemSchedulingClock clock = new SystemSchedulingClock("holdfast-jdbc-timer");

	private volatile boolean responsive;

	private volatile boolean supported;

	AdvisorySessions(JdbcConnections connections, AdvisoryLockOptions options) {
		this.connections = connections;
		this.options = options;
		this.exclusive = new AdvisoryStatements(options.table(), LockMode.EXCLUSIVE);
		this.shared = new AdvisoryStatements(options.table(), LockMode.SHARED);
	}

	/** Makes an attempt, in a new session if that of the claim has ended. */
	AcquireResult attempt(Claim claim) throws SQLException {
		AcquireResult result = null;
		while (result == null) {
			result = this.byOwner.computeIfAbsent(claim.owner(), (owner) -> new AdvisorySession(this, claim))
				.attempt(claim);
		}
		return result;
	}

	/** Returns the session of a claim, or {@code null} if it has ended. */
	@Nullable AdvisorySession find(OwnerId owner) {
		return this.byOwner.get(owner);
	}

	/**
	 * Restarts the lease of a grant.
	 * @return {@code false} if the lock is lost
	 */
	boolean extend(Grant grant) throws SQLException {
		AdvisorySession session = find(grant.claim().owner());
		return session != null && session.extend(grant);
	}

	/**
	 * Processes several grants at the same time.
	 * @param missing the result for a grant whose session does not respond soon
	 */
	<T> List<T> all(List<Grant> grants, Function<Grant, T> process, T missing) {
		List<CompletableFuture<T>> results = grants.stream()
			.map((grant) -> CompletableFuture.supplyAsync(() -> process.apply(grant), this.threads))
			.toList();
		CompletableFuture<Void> enough = CompletableFuture.allOf(results.toArray(CompletableFuture[]::new));
		Runnable cancel = this.clock.after(this.options.responseTimeout().toNanos() / 2, () -> enough.complete(null));
		enough.join();
		cancel.run();
		return results.stream().map((result) -> result.getNow(missing)).toList();
	}

	void ended(OwnerId owner, AdvisorySession session) {
		this.byOwner.remove(owner, session);
	}

	AdvisoryConnection connect(Claim claim) throws SQLException {
		BorrowedConnection borrowed = this.connections.keep();
		try {
			requireSupported(borrowed);
			return new AdvisoryConnection(borrowed, (claim.mode() == LockMode.SHARED) ? this.shared : this.exclusive,
					this.options.key(claim.lock()), claim, (int) keptFor().toMillis());
		}
		catch (SQLException | RuntimeException | Error ex) {
			try (borrowed) {
				throw ex;
			}
		}
	}

	/** Checks the database at the first use, if the startup has not checked it. */
	private void requireSupported(BorrowedConnection borrowed) throws SQLException {
		if (!this.supported) {
			AdvisoryLookup.supportedVersion(borrowed.connection());
			this.supported = true;
		}
	}

	/** Returns how long the server keeps a lock for a claim that has waited for it. */
	Duration keptFor() {
		return Duration.ofSeconds(this.options.timeoutSeconds());
	}

	/** Returns when to ask again at the latest, if no signal arrives. */
	Duration retryAfter(Claim claim) {
		Duration wait = claim.remainingWait();
		return wait.isZero() ? POLL : (wait.compareTo(LONGEST_RETRY) < 0) ? wait : LONGEST_RETRY;
	}

	void execute(Runnable task) {
		this.threads.execute(task);
	}

	void executeAfter(Duration delay, Runnable task) {
		this.clock.after(delay.toNanos(), () -> this.threads.execute(task));
	}

	long nanos() {
		return this.clock.nanos();
	}

	/** Notes whether the database has answered the latest request. */
	void responded(boolean answered) {
		if (this.responsive != answered) {
			this.responsive = answered;
		}
	}

	boolean isResponsive() {
		return this.responsive;
	}

	/** Returns the number of claims that have a session. */
	int size() {
		return this.byOwner.size();
	}

	/** Ends all sessions. */
	@Override
	public void close() {
		List.copyOf(this.byOwner.values()).forEach(AdvisorySession::close);
		this.clock.close();
		this.threads.shutdown();
	}

}
