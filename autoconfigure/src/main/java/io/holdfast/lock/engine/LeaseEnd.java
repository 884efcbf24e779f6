package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;

/**
 * Knows when one lease may end, and asks the store to end it.
 */
final class LeaseEnd {

	private final EngineContext context;

	private final ResolvedRequest terms;

	private final Grant grant;

	/** The end of the longest {@code minHold} of its holds. */
	private volatile long closedUntil;

	/** Whether the store was asked to end it, or has said that it has ended. */
	private volatile boolean begun;

	LeaseEnd(EngineContext context, ResolvedRequest terms, Grant grant) {
		this.context = context;
		this.terms = terms;
		this.grant = grant;
		this.closedUntil = context.time().nanos() + terms.minHold().toNanos();
	}

	/** Keeps the lock closed for a time from now on, at least; one caller at a time. */
	void notWithin(Duration minHold) {
		this.closedUntil = Math.max(this.closedUntil, this.context.time().nanos() + minHold.toNanos());
	}

	/** How long the lock must stay closed from now on; not positive if it need not. */
	long remainingNanos() {
		return this.closedUntil - this.context.time().nanos();
	}

	boolean hasBegun() {
		return this.begun;
	}

	/**
	 * Ends the lease.
	 * @param quiet completes when no renewal of it is under way
	 */
	CompletableFuture<ReleaseResult> release(CompletableFuture<?> quiet) {
		this.begun = true;
		return this.context.retrier().release(this.terms.backend(), this.grant, leaseEnds(), quiet);
	}

	/** Ends the lease after its loss, unless the store has ended it. */
	void lost(LossCause cause, CompletableFuture<?> quiet) {
		Duration lockDelay = this.context.settings().lockDelay();
		if (cause == LossCause.REFUSED || cause == LossCause.REVOKED) {
			this.begun = true;
		}
		else if (cause == LossCause.SHUTDOWN && remainingNanos() > 0) {
			retain(quiet, lockDelay);
		}
		// in a store whose leases live with a session it may stand there for long
		else if (lockDelay.isZero()) {
			release(quiet);
		}
		else {
			this.context.time().after(lockDelay.toNanos(), () -> release(quiet));
		}
	}

	/**
	 * Has the store keep the lock for the rest of its {@code minHold}, which this JVM
	 * does not outlive. The end has not begun by that: a late answer of the acquisition
	 * must not withdraw what is kept.
	 * @param atLeast how long to keep it at least
	 */
	void retain(CompletableFuture<?> quiet, Duration atLeast) {
		long until = Math.max(this.closedUntil, this.context.time().nanos() + atLeast.toNanos());
		this.context.retrier()
			.retain(this.terms.backend(), this.grant, leaseEnds(), quiet,
					() -> Duration.ofNanos(until - this.context.time().nanos()));
	}

	private long leaseEnds() {
		return this.context.time().nanos() + this.grant.lease().toNanos();
	}

}
