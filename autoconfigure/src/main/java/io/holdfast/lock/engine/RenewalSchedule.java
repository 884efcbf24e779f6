package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;

/**
 * Times of the renewals of one lease. Guarded by the watchdog's lock.
 */
final class RenewalSchedule {

	private static final int RENEWALS_PER_LEASE = 3;

	/**
	 * Share of its interval by which a renewal may be early to join a batch: one tenth.
	 */
	private static final int BATCH_SHARE = 10;

	/** Exceeds the default time of handoffs, so that most turns need no renewal. */
	private static final long AFTER_KEPT = TimeUnit.MILLISECONDS.toNanos(20);

	private static final CompletableFuture<Void> NONE = CompletableFuture.completedFuture(null);

	final StoreLease lease;

	/** Orders leases that are due at the same time: the oldest comes first. */
	long number;

	boolean watched;

	/** Position in the queue of renewals. */
	int position;

	/** Time of the next check. */
	long at;

	long nextRenewal;

	/** Whether a renewal waits for a thread; it is not sent once the lease has ended. */
	boolean waits;

	/** The last renewal that was sent; at most one is in progress at a time. */
	CompletableFuture<Void> renewal = NONE;

	/** Whether to renew once more after the renewal in progress. */
	boolean again;

	private volatile long renewalDue;

	/** Why the last renewal failed, or {@code null} if it has not. */
	volatile @Nullable Throwable failure;

	RenewalSchedule(StoreLease lease) {
		this.lease = lease;
	}

	/**
	 * Returns when to send the first renewal. A lock that was kept for its holder is
	 * renewed soon, because it is kept for less than its lease. A grant that arrives late
	 * leaves less of the validity, perhaps less than an interval.
	 * @param now the time of the grant
	 */
	long firstRenewal(long now) {
		Validity validity = this.lease.validity();
		boolean kept = validity.kept().compareTo(validity.leaseTime()) < 0;
		long usual = now + (kept ? Math.min(AFTER_KEPT, interval()) : interval());
		return Math.min(usual, Math.max(now, validity.freshUntil()));
	}

	long interval() {
		return Math.max(1, this.lease.validity().kept().toNanos() / RENEWALS_PER_LEASE);
	}

	/**
	 * Whether the lease is renewed and has not reached its {@code maxHold}. A sticky
	 * lease is released instead while no hold uses it.
	 */
	boolean wantsRenewal(long now) {
		return mayRenew(now) && !this.lease.isUnused();
	}

	/** The {@code maxHold} limits the work of a holder, but not a longer minHold. */
	private boolean mayRenew(long now) {
		Lease holder = this.lease.holder();
		Duration maxHold = holder.request().maxHold();
		return holder.request().renew()
				&& (maxHold == null || holder.hasEnded() || now - holder.acquiredAt() < maxHold.toNanos());
	}

	/** Returns the cause of loss if the validity runs out. */
	LossCause causeOfExpiry(long now) {
		return (this.lease.holder().request().renew() && !mayRenew(now)) ? LossCause.MAX_HOLD : LossCause.EXPIRED;
	}

	boolean joinsBatch(long now) {
		return wantsRenewal(now) && this.nextRenewal - now <= interval() / BATCH_SHARE;
	}

	/**
	 * Plans the next renewal an interval from now.
	 * @return whether to send one now, which waits until {@link #sends}; otherwise the
	 * lease wants none, or one waits or is in progress
	 */
	boolean startsRenewal(long now) {
		if (!wantsRenewal(now)) {
			return false;
		}
		boolean starts = !this.waits && this.renewal.isDone();
		if (starts) {
			this.waits = true;
			this.renewalDue = this.nextRenewal;
		}
		this.nextRenewal = now + interval();
		return starts;
	}

	/**
	 * Ends the wait of a renewal.
	 * @return whether to send it, so that it is in progress; otherwise the lease has
	 * ended in the meantime
	 */
	boolean sends() {
		this.waits = false;
		if (this.watched) {
			this.renewal = new CompletableFuture<>();
		}
		return this.watched;
	}

	/** Returns the delay of a renewal that is sent at the given time. */
	Duration late(long sentAt) {
		return Duration.ofNanos(Math.max(0, sentAt - this.renewalDue));
	}

}
