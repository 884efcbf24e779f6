package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.SharedRequest;

/**
 * A lease that claims of this JVM share. It is renewed until no claim has used it for the
 * length of the lease.
 *
 * <p>
 * The session watches its own key, so it notices at once, not at the next renewal, that
 * etcd has ended the lease. The revision that last wrote this key is the session's epoch.
 * Each attempt to create a claim's key is conditional on the current epoch. Once etcd has
 * confirmed a later one, no attempt of an earlier epoch can be executed any more, however
 * long it is delayed.
 */
final class Session {

	/** The pause before a request that nothing else repeats. */
	static final long RETRY_NANOS = 500_000_000;

	private final EtcdCalls calls;

	private final EtcdLease lease;

	private final String key;

	private final SchedulingClock clock;

	private final Consumer<Session> ended;

	private final SharedRequest<Long> advance = new SharedRequest<>();

	private final AtomicBoolean retrying = new AtomicBoolean();

	private volatile long epoch;

	/** The number of claims that use the session; guarded by this. */
	private int users;

	/** The time since which no claim uses the session; guarded by this. */
	private long unusedSince;

	private volatile boolean closed;

	private @Nullable Runnable nextRenewal;

	private @Nullable KeyWatch watch;

	private Session(EtcdCalls calls, EtcdLease lease, String key, SchedulingClock clock, Consumer<Session> ended) {
		this.calls = calls;
		this.lease = lease;
		this.key = key;
		this.clock = clock;
		this.ended = ended;
		this.unusedSince = clock.nanos();
	}

	/**
	 * Starts a session.
	 * @param seconds how long its lease lasts without renewal
	 * @param ended notified when the session is closed, because its lease has ended or
	 * was not used
	 */
	static CompletableFuture<Session> start(EtcdCalls calls, EtcdKeys keys, SchedulingClock clock, long seconds,
			Consumer<Session> ended) {
		return EtcdLease.grant(calls, clock, seconds).thenCompose((lease) -> {
			Session session = new Session(calls, lease, keys.session(lease.id()), clock, ended);
			return session.advance().whenComplete((done, failure) -> {
				if (failure != null) {
					session.end();
				}
				else {
					session.watchAgain();
					session.scheduleRenewal();
				}
			}).thenApply((done) -> session);
		});
	}

	EtcdLease lease() {
		return this.lease;
	}

	String key() {
		return this.key;
	}

	/** Returns the revision that last wrote the session's key, as far as it is known. */
	long epoch() {
		return this.epoch;
	}

	boolean isUsable() {
		return !this.closed && !this.lease.hasEnded();
	}

	/**
	 * Registers a claim as a user of the session; returns whether the session can be
	 * used.
	 */
	synchronized boolean enter() {
		if (isUsable()) {
			this.users++;
			return true;
		}
		return false;
	}

	/** Unregisters a claim as a user of the session. */
	synchronized void leave() {
		this.users--;
		this.unusedSince = this.clock.nanos();
	}

	/**
	 * Completes when no attempt of the given epoch or an earlier one can be executed any
	 * more.
	 */
	CompletableFuture<Void> passed(long epoch) {
		if (epoch < this.epoch || this.lease.hasEnded()) {
			return CompletableFuture.completedFuture(null);
		}
		return advance().exceptionallyCompose((failure) -> EtcdErrors.isLeaseGone(failure)
				? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(failure));
	}

	/** Starts the next epoch. Concurrent callers share one request. */
	CompletableFuture<Void> advance() {
		return this.advance.send(() -> this.calls.put(this.key, this.lease.id()).whenComplete((revision, failure) -> {
			if (failure == null) {
				this.epoch = revision;
			}
			else if (EtcdErrors.isLeaseGone(failure)) {
				this.lease.end();
				over();
			}
		})).thenApply((revision) -> null);
	}

	private synchronized void scheduleRenewal() {
		if (!this.closed) {
			this.nextRenewal = this.clock.after(this.lease.length().dividedBy(3).toNanos(), this::renewOrEnd);
		}
	}

	private void renewOrEnd() {
		if (closeIfUnused()) {
			this.ended.accept(this);
			end();
		}
		else {
			scheduleRenewal();
			renew();
		}
	}

	private synchronized boolean closeIfUnused() {
		boolean unused = this.users == 0 && this.clock.nanos() - this.unusedSince >= this.lease.length().toNanos();
		this.closed |= unused;
		return unused;
	}

	private void renew() {
		this.lease.renewed().whenComplete((renewed, failure) -> {
			if (this.lease.hasEnded()) {
				over();
			}
			else if (failure != null) {
				retrySoon();
			}
			else {
				watchAgain();
			}
		});
	}

	/**
	 * Retries the renewal soon. Without a watch, the end of the lease would go unnoticed
	 * until the next regular renewal.
	 */
	private void retrySoon() {
		if (!this.closed && this.retrying.compareAndSet(false, true)) {
			this.clock.after(RETRY_NANOS, () -> {
				this.retrying.set(false);
				if (!this.closed) {
					renew();
				}
			});
		}
	}

	/**
	 * Watches the key unless it is watched already. A watch that has ended may have
	 * missed changes, so the next epoch starts before the new watch.
	 */
	private void watchAgain() {
		KeyWatch former = watch();
		if (former == null) {
			swapWatch(null, this.epoch);
		}
		else if (former.isOver() && !this.closed) {
			advance().whenComplete((done, failure) -> {
				if (failure == null) {
					swapWatch(former, this.epoch);
				}
				else {
					retrySoon();
				}
			});
		}
	}

	private void swapWatch(@Nullable KeyWatch former, long seenAt) {
		KeyWatch next = KeyWatch.on(this.calls, this.clock, this.key, seenAt);
		if (replace(former, next)) {
			next.signal().thenRun(this::renew);
		}
		else {
			next.close();
		}
	}

	private synchronized boolean replace(@Nullable KeyWatch former, KeyWatch next) {
		if (this.closed || this.watch != former) {
			return false;
		}
		this.watch = next;
		return true;
	}

	private synchronized @Nullable KeyWatch watch() {
		return this.watch;
	}

	/** Handles the end of the lease and of every key attached to it. */
	private void over() {
		stop();
		this.ended.accept(this);
	}

	/**
	 * Closes the watch outside of the monitor, because the client may wait for a lock of
	 * its own then, whose holder may wait for this session.
	 */
	private void stop() {
		KeyWatch present;
		synchronized (this) {
			this.closed = true;
			if (this.nextRenewal != null) {
				this.nextRenewal.run();
			}
			present = this.watch;
		}
		if (present != null) {
			present.close();
		}
	}

	/**
	 * Revokes the lease and deletes every key attached to it. If etcd does not respond,
	 * the lease expires by itself.
	 */
	CompletableFuture<Void> end() {
		stop();
		return this.lease.revoke();
	}

}
