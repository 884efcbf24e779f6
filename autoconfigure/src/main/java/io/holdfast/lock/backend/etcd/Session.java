package io.holdfast.lock.backend.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * A lease that claims of this JVM share, renewed until none has used it for as long as it
 * lasts.
 *
 * <p>
 * Its own key is watched, so that a lease that etcd has ended is noticed at once and not
 * at the next renewal. The revision that wrote this key last is the session's epoch. Each
 * attempt to create a claim's key is sent on condition of the present epoch. Once etcd
 * has confirmed a later one, no attempt of an earlier epoch can be carried out any more,
 * however long it is on its way.
 */
final class Session {

	private static final long RETRY_NANOS = 500_000_000;

	private final EtcdCalls calls;

	private final EtcdLease lease;

	private final String key;

	private final SchedulingClock clock;

	private final Consumer<Session> ended;

	private final AtomicReference<@Nullable CompletableFuture<Void>> advance = new AtomicReference<>();

	private final AtomicBoolean retrying = new AtomicBoolean();

	private volatile long epoch;

	/** How many claims use it; guarded by this. */
	private int users;

	/** Since when none does; guarded by this. */
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
	 * @param ended notified once when the session is closed, because its lease is over or
	 * has not been used
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

	/** The revision that wrote the session's key last, as far as is known. */
	long epoch() {
		return this.epoch;
	}

	boolean isUsable() {
		return !this.closed && !this.lease.hasEnded();
	}

	/** Keeps the session for one claim more; returns whether it can be used. */
	synchronized boolean enter() {
		if (isUsable()) {
			this.users++;
			return true;
		}
		return false;
	}

	/** Keeps the session for one claim less. */
	synchronized void leave() {
		this.users--;
		this.unusedSince = this.clock.nanos();
	}

	/**
	 * Completes when no attempt of an epoch, or of an earlier one, can be carried out any
	 * more.
	 */
	CompletableFuture<Void> passed(long epoch) {
		if (epoch < this.epoch || this.lease.hasEnded()) {
			return CompletableFuture.completedFuture(null);
		}
		return advance().exceptionallyCompose((failure) -> EtcdFailures.isLeaseGone(failure)
				? CompletableFuture.completedFuture(null) : CompletableFuture.failedFuture(failure));
	}

	/** Starts the next epoch; several callers share one request. */
	CompletableFuture<Void> advance() {
		CompletableFuture<Void> mine = new CompletableFuture<>();
		CompletableFuture<Void> present = this.advance.compareAndExchange(null, mine);
		if (present != null) {
			return present;
		}
		this.calls.put(this.key, this.lease.id()).whenComplete((revision, failure) -> {
			if (failure == null) {
				this.epoch = revision;
				this.advance.set(null);
				mine.complete(null);
				return;
			}
			this.advance.set(null);
			if (EtcdFailures.isLeaseGone(failure)) {
				this.lease.end();
				over();
			}
			mine.completeExceptionally(failure);
		});
		return mine;
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

	/** Unwatched, an end of the lease would go unnoticed until the next renewal. */
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
	 * Watches the key unless it is watched. A watch that ended may have missed things.
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
		KeyWatch next = KeyWatch.on(this.calls, this.key, seenAt);
		synchronized (this) {
			if (this.closed || this.watch != former) {
				next.close();
				return;
			}
			this.watch = next;
		}
		next.signal().thenRun(this::renew);
	}

	private synchronized @Nullable KeyWatch watch() {
		return this.watch;
	}

	/** The lease is over, and with it every key that lived with it. */
	private void over() {
		stop();
		this.ended.accept(this);
	}

	private synchronized void stop() {
		this.closed = true;
		if (this.nextRenewal != null) {
			this.nextRenewal.run();
		}
		if (this.watch != null) {
			this.watch.close();
		}
	}

	/**
	 * Ends the lease and all keys that live with it. Unanswered, it expires by itself.
	 */
	CompletableFuture<?> end() {
		stop();
		return this.lease.revoke();
	}

}
