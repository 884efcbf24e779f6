package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * Sends requests whose responses prove how long the session lasts. Heartbeats keep that
 * proof fresh, so granting a lock takes no additional request.
 */
final class ProvingCalls implements ZooKeeperCalls {

	private final ZooKeeperCalls calls;

	private final SchedulingClock clock;

	private final String heartbeatPath;

	private final SessionGuarantee guarantee;

	/** The latest heartbeat, which delays the next one until it is answered. */
	private volatile CompletableFuture<Void> latestHeartbeat = CompletableFuture.completedFuture(null);

	private boolean closed;

	private Runnable cancelHeartbeat = () -> {
	};

	/**
	 * Creates an instance and sends the first heartbeat.
	 * @param calls sends the requests
	 * @param clock the source of time
	 * @param notBefore the earliest time at which the session can have started, on that
	 * clock
	 * @param heartbeatPath any path that the client may access
	 */
	ProvingCalls(ZooKeeperCalls calls, SchedulingClock clock, long notBefore, String heartbeatPath) {
		this.calls = calls;
		this.clock = clock;
		this.heartbeatPath = heartbeatPath;
		this.guarantee = new SessionGuarantee(clock, notBefore);
		heartbeat();
	}

	/**
	 * Returns how long a session is proven to last.
	 * @param session the session
	 * @param from the time to count from
	 * @return the duration, or {@code null} if next to nothing is proven
	 */
	@Nullable Duration remainingSession(long session, long from) {
		return this.guarantee.remaining(session, from, this.calls.sessionTimeout());
	}

	/**
	 * Whether a grant is useful without a further request: heartbeats alone prove
	 * nothing, so the proof grows old while a claim waits.
	 */
	boolean isSessionFresh() {
		return this.guarantee.isFresh(this.calls.sessionTimeout());
	}

	private void heartbeat() {
		synchronized (this) {
			if (this.closed) {
				return;
			}
			this.cancelHeartbeat = this.clock.after(this.guarantee.pause(this.calls.sessionTimeout()).toNanos(),
					this::heartbeat);
		}
		if (!this.latestHeartbeat.isDone()) {
			return;
		}
		long sentAt = this.clock.nanos();
		long session = this.calls.session();
		this.latestHeartbeat = sync(this.heartbeatPath).whenComplete((done, failure) -> {
			if (failure != null && ZooKeeperCalls.connectionLost(failure)) {
				this.guarantee.disconnected(session, sentAt);
			}
		});
	}

	private <T extends @Nullable Object> CompletableFuture<T> proving(boolean committed,
			Supplier<CompletableFuture<T>> request) {
		long sentAt = this.clock.nanos();
		long session = this.calls.session();
		this.guarantee.seen(session, sentAt);
		return request.get().thenApply((answer) -> {
			if (seenNow() == session) {
				this.guarantee.answered(session, sentAt, this.calls.sessionTimeout(), committed);
			}
			return answer;
		});
	}

	/** Records and returns the current session, which may have started meanwhile. */
	private long seenNow() {
		long now = this.clock.nanos();
		long session = this.calls.session();
		this.guarantee.seen(session, now);
		return session;
	}

	@Override
	public CompletableFuture<Node> create(String path, String data) {
		return proving(true, () -> this.calls.create(path, data));
	}

	@Override
	public CompletableFuture<List<String>> children(String path) {
		return this.calls.children(path);
	}

	@Override
	public CompletableFuture<List<String>> children(String path, Runnable changed) {
		return this.calls.children(path, changed);
	}

	@Override
	public CompletableFuture<Void> sync(String path) {
		return proving(false, () -> this.calls.sync(path));
	}

	@Override
	public CompletableFuture<Node> stat(String path) {
		return this.calls.stat(path);
	}

	@Override
	public Watch watch(String path, Consumer<Boolean> changed) {
		return this.calls.watch(path, changed);
	}

	@Override
	public CompletableFuture<Void> delete(String path) {
		return proving(true, () -> this.calls.delete(path));
	}

	@Override
	public CompletableFuture<Void> check(String path) {
		return proving(true, () -> this.calls.check(path));
	}

	@Override
	public long session() {
		return this.calls.session();
	}

	@Override
	public Duration sessionTimeout() {
		return this.calls.sessionTimeout();
	}

	@Override
	public boolean answersOn(Thread thread) {
		return this.calls.answersOn(thread);
	}

	@Override
	public void listen(Consumer<Connection> listener) {
		this.calls.listen(listener);
	}

	/** Stops sending heartbeats. */
	@Override
	public void close() {
		synchronized (this) {
			this.closed = true;
			this.cancelHeartbeat.run();
		}
		this.calls.close();
	}

}
