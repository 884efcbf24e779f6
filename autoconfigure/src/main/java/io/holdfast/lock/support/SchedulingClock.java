package io.holdfast.lock.support;

import java.util.concurrent.ThreadLocalRandom;

/**
 * A monotonic clock that also schedules tasks. It is the engine's and the backends' only
 * source of time and of the randomness that spreads delays, so tests and simulations
 * control both. Thread-safe.
 */
public interface SchedulingClock {

	/**
	 * Returns the current time. It never goes backward, and changes of the host's wall
	 * clock do not affect it.
	 * @return nanoseconds since the clock was created, so two readings can be compared as
	 * numbers
	 */
	long nanos();

	/**
	 * Runs a short task later, on a thread that must not block.
	 * @param delayNanos the delay; runs as soon as possible if not positive
	 * @param task the task
	 * @return cancels the task if it has not started
	 */
	Runnable after(long delayNanos, Runnable task);

	/**
	 * Returns a random part of a delay. It prevents clients that wait for the same event
	 * from acting at the same moment.
	 * @param boundNanos the bound, positive and exclusive
	 * @return nanoseconds from zero to the bound
	 */
	default long jitter(long boundNanos) {
		return ThreadLocalRandom.current().nextLong(boundNanos);
	}

}
