package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * The leases that the claims of this JVM share: one for each lease time, kept alive as
 * long as this JVM runs, so that a claim costs no lease of its own.
 *
 * <p>
 * A key that lives with the lease is watched, so that a lease that etcd has ended is
 * known at once and not at the next renewal.
 */
final class Sessions {

	private static final long AGAIN_NANOS = 500_000_000;

	private final EtcdCalls calls;

	private final Keys keys;

	private final SchedulingClock clock;

	private final Consumer<EtcdLease> ended;

	private final Map<Duration, CompletableFuture<Session>> sessions = new ConcurrentHashMap<>();

	/**
	 * Create the room for sessions; none is begun before it is asked for.
	 * @param ended told once of every session's lease that is over
	 */
	Sessions(EtcdCalls calls, Keys keys, SchedulingClock clock, Consumer<EtcdLease> ended) {
		this.calls = calls;
		this.keys = keys;
		this.clock = clock;
		this.ended = ended;
	}

	/** The session's lease for a lease time. */
	CompletableFuture<EtcdLease> lease(Duration length) {
		return this.sessions.compute(length, (key, present) -> isUsable(present) ? present : begin(length))
			.thenCompose((session) -> session.lease.fresh());
	}

	private static boolean isUsable(@Nullable CompletableFuture<Session> session) {
		return session != null && !session.isCompletedExceptionally()
				&& (!session.isDone() || !session.join().lease.hasEnded());
	}

	private CompletableFuture<Session> begin(Duration length) {
		return EtcdLease.grant(this.calls, this.clock, length).thenApply(Session::new);
	}

	/** End all leases, and with them whatever still stands. */
	List<CompletableFuture<?>> end() {
		return this.sessions.values()
			.stream()
			.filter((session) -> session.isDone() && !session.isCompletedExceptionally())
			.<CompletableFuture<?>>map((session) -> session.join().end())
			.toList();
	}

	/**
	 * One lease, its renewal and the watch on its key.
	 */
	private final class Session {

		private final EtcdLease lease;

		private final long third;

		private final AtomicBoolean planned = new AtomicBoolean();

		private volatile Runnable nextRenewal;

		private volatile boolean stopped;

		private volatile @Nullable KeyWatch watch;

		Session(EtcdLease lease) {
			this.lease = lease;
			this.third = lease.length().dividedBy(3).toNanos();
			this.nextRenewal = Sessions.this.clock.after(this.third, this::renewRegularly);
			mark();
		}

		private void renewRegularly() {
			if (!this.stopped) {
				this.nextRenewal = Sessions.this.clock.after(this.third, this::renewRegularly);
				renew();
			}
		}

		private void renew() {
			this.lease.renewed().whenComplete((renewed, failure) -> {
				KeyWatch present = this.watch;
				if (this.lease.hasEnded()) {
					over();
				}
				else if (failure != null) {
					soonAgain();
				}
				else if (present == null || present.isOver()) {
					mark();
				}
			});
		}

		/** Unwatched, an end of the lease would go unnoticed until the next renewal. */
		private void soonAgain() {
			if (!this.stopped && this.planned.compareAndSet(false, true)) {
				Sessions.this.clock.after(AGAIN_NANOS, () -> {
					this.planned.set(false);
					renew();
				});
			}
		}

		/** Write the key and watch it. Without its lease etcd does not take it. */
		private void mark() {
			String key = Sessions.this.keys.session(this.lease.id());
			Sessions.this.calls.put(key, this.lease.id()).whenComplete((revision, failure) -> {
				if (failure != null) {
					unmarked(failure);
					return;
				}
				KeyWatch next = KeyWatch.on(Sessions.this.calls, key, revision);
				this.watch = next;
				next.signal().thenRun(this::renew);
			});
		}

		private void unmarked(Throwable failure) {
			if (EtcdFailures.isLeaseGone(failure)) {
				this.lease.end();
				over();
			}
			else {
				soonAgain();
			}
		}

		private void over() {
			stop();
			Sessions.this.ended.accept(this.lease);
		}

		private void stop() {
			this.stopped = true;
			this.nextRenewal.run();
			KeyWatch present = this.watch;
			if (present != null) {
				present.close();
			}
		}

		CompletableFuture<?> end() {
			stop();
			return this.lease.revoke();
		}

	}

}
