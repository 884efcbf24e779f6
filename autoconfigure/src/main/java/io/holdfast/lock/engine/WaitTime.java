package io.holdfast.lock.engine;

import java.time.Duration;

import io.holdfast.lock.support.SchedulingClock;

/**
 * The time for which a caller waits for a lock.
 */
class WaitTime {

	final SchedulingClock time;

	/** When the wait started, on that clock. */
	final long startedAt;

	/** Changed by steps of the caller, but read for operators by any thread. */
	private volatile long nanos;

	/**
	 * Creates a wait.
	 * @param nanos its maximum length
	 */
	WaitTime(SchedulingClock time, long startedAt, long nanos) {
		this.time = time;
		this.startedAt = startedAt;
		this.nanos = nanos;
	}

	/** Returns the remaining time; not positive once the deadline has passed. */
	long left() {
		return this.startedAt + this.nanos - this.time.nanos();
	}

	/** Lets the wait end after this time from now. */
	void extend(long nanosFromNow) {
		this.nanos = elapsed() + nanosFromNow;
	}

	Duration remaining() {
		return Duration.ofNanos(Math.max(0, left()));
	}

	long elapsed() {
		return this.time.nanos() - this.startedAt;
	}

}
