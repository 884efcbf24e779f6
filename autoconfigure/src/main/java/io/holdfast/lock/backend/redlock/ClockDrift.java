package io.holdfast.lock.backend.redlock;

import java.time.Duration;

/**
 * Allowance for clocks that run at different speeds. The engine subtracts one hundredth
 * and two milliseconds from every lease, so this class subtracts only the excess.
 */
final class ClockDrift {

	private static final double ENGINE_DRIFT = 0.01;

	/** The fixed part of the allowance. */
	static final Duration MARGIN = Duration.ofMillis(2);

	private ClockDrift() {
	}

	static double factor(RedlockLockOptions options) {
		return Math.max(options.driftFactor(), ENGINE_DRIFT);
	}

	/** Returns the lease to report to the engine. */
	static Duration trustedLease(Duration lease, RedlockLockOptions options) {
		double share = (1 - factor(options)) / (1 - ENGINE_DRIFT);
		return (share < 1) ? Duration.ofNanos((long) (lease.toNanos() * share)) : lease;
	}

	/**
	 * Returns the validity of a lease, counted from before the first request was sent.
	 * @return nanoseconds
	 */
	static long validity(Duration lease, RedlockLockOptions options) {
		long nanos = lease.toNanos();
		return nanos - (long) (nanos * factor(options)) - MARGIN.toNanos();
	}

}
