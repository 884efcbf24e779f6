package io.holdfast.lock.engine;

import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

/**
 * Whether a lease has a holder, is idle, or has ended. Each change is one atomic step, so
 * an idle lease is either taken over or released. Thread-safe.
 */
abstract class LeaseState {

	private static final AtomicIntegerFieldUpdater<LeaseState> STATE = AtomicIntegerFieldUpdater
		.newUpdater(LeaseState.class, "state");

	private static final int HELD = 0;

	private static final int IDLE = 1;

	private static final int ENDED = 2;

	private volatile int state;

	/** Called by the wait queue before any caller can find the lease there. */
	void idle() {
		this.state = IDLE;
	}

	boolean isIdle() {
		return this.state == IDLE;
	}

	boolean hasEnded() {
		return this.state == ENDED;
	}

	/** Whether this call gives an idle lease to the next holder. */
	boolean becomesHeld() {
		return STATE.compareAndSet(this, IDLE, HELD);
	}

	/** Whether this call ends an idle lease. */
	boolean endsIdle() {
		return STATE.compareAndSet(this, IDLE, ENDED);
	}

	/** Whether this call ends a lease that has a holder. */
	boolean endsHeld() {
		return STATE.compareAndSet(this, HELD, ENDED);
	}

}
