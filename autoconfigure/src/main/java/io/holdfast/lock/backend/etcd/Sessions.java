package io.holdfast.lock.backend.etcd;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Registry of the sessions that the claims of this JVM share: one for each lease time in
 * whole seconds. A claim therefore needs no lease of its own.
 */
final class Sessions {

	private final EtcdCalls calls;

	private final EtcdKeys keys;

	private final SchedulingClock clock;

	private final Consumer<Session> ended;

	private final Map<Long, CompletableFuture<Session>> sessions = new ConcurrentHashMap<>();

	private volatile boolean closed;

	/**
	 * Creates an empty registry; sessions start on demand.
	 * @param ended notified of each session whose lease has ended
	 */
	Sessions(EtcdCalls calls, EtcdKeys keys, SchedulingClock clock, Consumer<Session> ended) {
		this.calls = calls;
		this.keys = keys;
		this.clock = clock;
		this.ended = ended;
	}

	/**
	 * Enters the session of a lease time, starting one if necessary. The caller must
	 * leave it.
	 */
	CompletableFuture<Session> enter(long seconds) {
		CompletableFuture<Session> mine = new CompletableFuture<>();
		CompletableFuture<Session> shared = this.sessions.compute(seconds,
				(key, present) -> isUsable(present) ? present : mine);
		if (shared == mine) {
			start(seconds, mine);
		}
		return shared.thenCompose((session) -> session.enter() ? CompletableFuture.completedFuture(session)
				: CompletableFuture.failedFuture(new SessionOverException()));
	}

	private static boolean isUsable(@Nullable CompletableFuture<Session> session) {
		return session != null && !session.isCompletedExceptionally()
				&& (!session.isDone() || session.join().isUsable());
	}

	private void start(long seconds, CompletableFuture<Session> starting) {
		// read after the registration, which the end may have missed before
		if (this.closed) {
			this.sessions.remove(seconds, starting);
			starting.completeExceptionally(new IllegalStateException("The backend is closed"));
			return;
		}
		Stages.attempt(() -> Session.start(this.calls, this.keys, this.clock, seconds, this::closed))
			.whenComplete((session, failure) -> {
				if (failure == null) {
					starting.complete(session);
				}
				else {
					this.sessions.remove(seconds, starting);
					starting.completeExceptionally(failure);
				}
			});
	}

	private void closed(Session session) {
		this.sessions.values().removeIf((present) -> present.isDone() && !isUsable(present));
		if (session.lease().hasEnded()) {
			this.ended.accept(session);
		}
	}

	/**
	 * Returns the lease of each session, in hexadecimal digits as etcd writes it, with
	 * the time for which it is known to last.
	 */
	Map<String, String> describe() {
		long now = this.clock.nanos();
		Map<String, String> leases = new TreeMap<>();
		this.sessions.values().forEach((session) -> {
			if (isUsable(session) && session.isDone()) {
				EtcdLease lease = session.join().lease();
				leases.put(Long.toHexString(lease.id()), DurationText.of(lease.lastsFrom(now)));
			}
		});
		return leases;
	}

	/**
	 * Ends all sessions, which deletes every key attached to their leases. No session
	 * starts afterwards, and one that is being started ends as soon as it has.
	 */
	List<CompletableFuture<?>> end() {
		this.closed = true;
		return this.sessions.values()
			.stream()
			.<CompletableFuture<?>>map((session) -> session.thenCompose(Session::end))
			.toList();
	}

	/** Thrown when a session ended between its request and its use. */
	static final class SessionOverException extends RuntimeException {

		private static final long serialVersionUID = 1L;

		SessionOverException() {
			super("The session's lease has ended");
		}

	}

}
