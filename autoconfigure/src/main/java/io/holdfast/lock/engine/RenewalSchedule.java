package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.holdfast.lock.LossCause;

/**
 * What the watchdog knows of one lease. Guarded by the watchdog's lock.
 */
final class RenewalSchedule {

	private static final int RENEWALS_PER_LEASE = 3;

	/**
	 * How early a renewal may come in order to go with others: a tenth of its interval.
	 */
	private static final int BATCH_SHARE = 10;

	final Lease lease;

	/** Of two that are due at the same moment the elder comes first. */
	long number;

	boolean watched;

	/** When to look after it next. */
	long at;

	long nextRenewal;

	/** The renewal that is or was under way; there is never more than one. */
	CompletableFuture<Void> renewal = CompletableFuture.completedFuture(null);

	private volatile long renewalDue;

	RenewalSchedule(Lease lease) {
		this.lease = lease;
	}

	long interval() {
		return Math.max(1, this.lease.length().toNanos() / RENEWALS_PER_LEASE);
	}

	/** Whether renewal is wanted at this moment. */
	boolean wantsRenewal(long now) {
		Duration maxHold = this.lease.terms().maxHold();
		return this.lease.terms().renew() && (maxHold == null || now - this.lease.acquiredAt() < maxHold.toNanos());
	}

	/** The cause of an end that nobody prevented. */
	LossCause causeOfExpiry(long now) {
		return (this.lease.terms().renew() && !wantsRenewal(now)) ? LossCause.MAX_HOLD : LossCause.EXPIRED;
	}

	boolean goesWithOthers(long now) {
		return wantsRenewal(now) && this.nextRenewal - now <= interval() / BATCH_SHARE;
	}

	/** Whether a renewal is to be sent now; if so it counts as under way. */
	boolean beginsRenewal(long now) {
		if (!wantsRenewal(now)) {
			return false;
		}
		boolean begins = this.renewal.isDone();
		if (begins) {
			this.renewal = new CompletableFuture<>();
			this.renewalDue = this.nextRenewal;
		}
		this.nextRenewal = now + interval();
		return begins;
	}

	/** By how much a renewal that is sent at this moment is later than it was due. */
	Duration late(long sentAt) {
		return Duration.ofNanos(Math.max(0, sentAt - this.renewalDue));
	}

}
