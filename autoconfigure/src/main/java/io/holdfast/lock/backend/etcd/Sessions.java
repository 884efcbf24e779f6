package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.etcd.jetcd.ByteSequence;
import org.jspecify.annotations.Nullable;

/**
 * The leases that the claims of this JVM share: one for each lease time, kept alive as
 * long as this JVM runs, so that a claim costs no lease of its own.
 *
 * <p>
 * A key that lives with the lease is watched, so that a lease that etcd has ended is
 * known at once and not at the next renewal.
 */
final class Sessions {

	private static final long AGAIN_MILLIS = 500;

	private final EtcdCalls calls;

	private final Keys keys;

	private final ScheduledExecutorService timer;

	private final Consumer<EtcdLease> ended;

	private final Map<Duration, CompletableFuture<Session>> sessions = new ConcurrentHashMap<>();

	/**
	 * Create the room for sessions; none is begun before it is asked for.
	 * @param ended told once of every session's lease that is over
	 */
	Sessions(EtcdCalls calls, Keys keys, ScheduledExecutorService timer, Consumer<EtcdLease> ended) {
		this.calls = calls;
		this.keys = keys;
		this.timer = timer;
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
		return EtcdLease.grant(this.calls, length).thenApply(Session::new);
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

		private final ScheduledFuture<?> renewals;

		private final AtomicBoolean planned = new AtomicBoolean();

		private volatile @Nullable KeyWatch watch;

		Session(EtcdLease lease) {
			this.lease = lease;
			mark();
			long third = lease.length().dividedBy(3).toMillis();
			this.renewals = Sessions.this.timer.scheduleAtFixedRate(this::renew, third, third, TimeUnit.MILLISECONDS);
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
			if (!Sessions.this.timer.isShutdown() && this.planned.compareAndSet(false, true)) {
				Sessions.this.timer.schedule(() -> {
					this.planned.set(false);
					renew();
				}, AGAIN_MILLIS, TimeUnit.MILLISECONDS);
			}
		}

		/** Write the key and watch it. Without its lease etcd does not take it. */
		private void mark() {
			ByteSequence key = Sessions.this.keys.session(this.lease.id());
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
			this.renewals.cancel(false);
			stopWatching();
			Sessions.this.ended.accept(this.lease);
		}

		private void stopWatching() {
			KeyWatch present = this.watch;
			if (present != null) {
				present.close();
			}
		}

		CompletableFuture<?> end() {
			this.renewals.cancel(false);
			stopWatching();
			return this.lease.revoke();
		}

	}

}
