package io.holdfast.lock.backend.redlock;

import java.time.Duration;

/**
 * How much of a lease may be believed in. The engine takes one hundredth and two
 * milliseconds off every lease by itself, so only what goes beyond that is taken off
 * here.
 */
final class ClockDrift {

	private static final double TAKEN_BY_THE_ENGINE = 0.01;

	private static final Duration MARGIN = Duration.ofMillis(2);

	private ClockDrift() {
	}

	static double factor(RedlockOptions options) {
		return Math.max(options.driftFactor(), TAKEN_BY_THE_ENGINE);
	}

	/** The lease to tell the engine of. */
	static Duration trustedLease(Duration lease, RedlockOptions options) {
		double share = (1 - factor(options)) / (1 - TAKEN_BY_THE_ENGINE);
		return (share < 1) ? Duration.ofNanos((long) (nanos(lease) * share)) : lease;
	}

	/**
	 * How long a lease may be believed in from before the first request left.
	 * @return nanoseconds
	 */
	static long validity(Duration lease, RedlockOptions options) {
		long nanos = nanos(lease);
		return nanos - (long) (nanos * factor(options)) - MARGIN.toNanos();
	}

	private static long nanos(Duration lease) {
		return (lease.compareTo(RedlockTimes.LONGEST_LEASE) < 0) ? lease.toNanos()
				: RedlockTimes.LONGEST_LEASE.toNanos();
	}

}
