package io.holdfast.lock.test.simulation;

import java.time.Duration;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LossCause;

/**
 * The hold of one operation on one of its locks.
 */
final class Holder {

	final Call call;

	final LockHandle handle;

	final long acquiredAt;

	/** The validity at the time of acquisition. */
	final Duration validity;

	private final Duration lockDelay;

	private final long minHoldUntil;

	private boolean closed;

	private boolean lost;

	private boolean lostAtStore;

	private long validUntil;

	Holder(Call call, LockHandle handle, Duration lockDelay) {
		this.call = call;
		this.handle = handle;
		this.lockDelay = lockDelay;
		this.acquiredAt = now();
		this.validity = handle.remainingValidity();
		this.minHoldUntil = minHoldStart() + call.operation.minHold().toNanos();
		noteValidity();
	}

	/** Counts from the acquisition, after which the caller may continue later. */
	private long minHoldStart() {
		SimulatedProcess process = this.call.process;
		long acquiredAt = process.engine().acquiredAt(this.handle.ownerId()).orElse(process.nanos());
		return Math.max(acquiredAt, this.call.startedNanos);
	}

	private long now() {
		return this.call.process.simulation().now();
	}

	void closing() {
		this.closed = true;
	}

	boolean closed() {
		return this.closed;
	}

	void lost(LossCause cause) {
		this.lost = true;
		this.lostAtStore = cause == LossCause.REFUSED || cause == LossCause.REVOKED;
	}

	boolean exclusive() {
		return this.handle.mode() == LockMode.EXCLUSIVE;
	}

	boolean conflictsWith(Holder other) {
		return exclusive() || other.exclusive();
	}

	/**
	 * Whether the holder would pass its check, or keeps the lock for its {@code minHold}.
	 */
	boolean passes() {
		return !this.call.process.killed() && (this.closed ? lingers() : this.handle.isHeld());
	}

	private boolean lingers() {
		return this.call.process.nanos() < this.minHoldUntil && this.call.process.engine().keeps(this.handle.ownerId());
	}

	/** Whether this holder no longer excludes others, for any reason. */
	boolean isOver() {
		boolean over = this.call.process.killed() || this.lost
				|| (this.closed && this.call.process.nanos() >= this.minHoldUntil);
		return over && now() >= closedUntil();
	}

	/** Records the current end of the validity. */
	void noteValidity() {
		long left = this.closed ? 0 : this.handle.remainingValidity().toNanos();
		if (left > 0) {
			this.validUntil = now() + left;
		}
	}

	/**
	 * Returns until when the lock must stay closed if this holder does not release it.
	 * Zero if the holder has released the lock, or if the store itself has ended the
	 * lease.
	 */
	long closedUntil() {
		if (this.lockDelay.isZero() || this.lostAtStore || (this.closed && !this.lost)) {
			return 0;
		}
		// the clocks of process and store may differ by one percent
		long tolerance = this.call.operation.leaseTime().plus(this.lockDelay).toNanos() / 50;
		return this.validUntil + this.lockDelay.toNanos() - tolerance;
	}

	@Override
	public String toString() {
		return this.call.toString();
	}

}
