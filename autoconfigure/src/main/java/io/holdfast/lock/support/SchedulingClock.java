package io.holdfast.lock.support;

import java.util.concurrent.ThreadLocalRandom;

/**
 * A monotonic clock that also runs tasks later. The engine and the backends take time,
 * and the randomness that spreads it, from no other source, so tests and simulations
 * control all of it. Thread-safe.
 */
public interface SchedulingClock {

	/**
	 * The current time. It never goes backward, and no change of the host's wall clock
	 * affects it.
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
	 * A random part of a delay. It keeps clients that wait for the same event from acting
	 * at the same moment.
	 * @param boundNanos the bound, positive and exclusive
	 * @return nanoseconds from zero to the bound
	 */
	default long jitter(long boundNanos) {
		return ThreadLocalRandom.current().nextLong(boundNanos);
	}

}
