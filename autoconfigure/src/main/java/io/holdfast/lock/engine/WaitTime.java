package io.holdfast.lock.engine;

import java.time.Duration;

import io.holdfast.lock.support.SchedulingClock;

/**
 * The time for which a caller waits for a lock.
 *
 * @param time the clock
 * @param startedAt when the wait began, on that clock
 * @param nanos its maximum length
 */
record WaitTime(SchedulingClock time, long startedAt, long nanos) {

	/** Returns the remaining time; not positive once the deadline has passed. */
	long left() {
		return this.startedAt + this.nanos - this.time.nanos();
	}

	Duration remaining() {
		return Duration.ofNanos(Math.max(0, left()));
	}

	long elapsed() {
		return this.time.nanos() - this.startedAt;
	}

}
