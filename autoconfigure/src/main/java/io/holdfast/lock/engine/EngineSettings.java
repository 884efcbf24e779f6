package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.support.DurationText;

/**
 * What holds for every lock whose request does not say otherwise.
 *
 * @param waitTime the longest wait to acquire; zero makes one attempt
 * @param leaseTime how long a store keeps a lock without renewal
 * @param responseTimeout when an unanswered request to a store counts as of unknown
 * outcome
 * @param awaitRelease whether the caller waits until the store has answered a release
 * @param interruptOnLoss whether the acquiring thread is interrupted when its hold is
 * lost
 * @param shutdownTimeout the longest wait at shutdown for running bodies to end by
 * themselves
 * @param watchLockOrder whether nested acquisitions in contradictory orders are reported
 * @param lockDelay how long a lock stays closed after it was lost rather than released
 */
public record EngineSettings(Duration waitTime, Duration leaseTime, Duration responseTimeout, boolean awaitRelease,
		boolean interruptOnLoss, Duration shutdownTimeout, boolean watchLockOrder, Duration lockDelay) {

	/** Clocks of this host and of a store may differ in speed by this much. */
	private static final int DRIFT_PERCENT = 1;

	private static final int DRIFT_MILLIS = 2;

	/** The settings of an application that sets none. */
	public static final EngineSettings DEFAULTS = new EngineSettings(Duration.ofSeconds(5), Duration.ofSeconds(30),
			Duration.ofSeconds(1), false, false, Duration.ofSeconds(10), false, Duration.ZERO);

	/**
	 * Check the durations.
	 * @throws LockConfigurationException if one is out of range
	 */
	public EngineSettings {
		requireRange("wait-time", waitTime, Duration.ZERO);
		requireRange("lease-time", leaseTime, Duration.ofMillis(1));
		requireRange("response-timeout", responseTimeout, Duration.ofMillis(1));
		requireRange("shutdown-timeout", shutdownTimeout, Duration.ZERO);
		requireRange("lock-delay", lockDelay, Duration.ZERO);
	}

	/** The lease to ask a store for: it has to keep the lock for the delay as well. */
	Duration storeLease(Duration lease) {
		return lease.plus(this.lockDelay);
	}

	/** Whether the lock-delay leaves anything of a store's lease to its holder. */
	boolean isUsable(Duration granted) {
		return granted.compareTo(this.lockDelay) > 0;
	}

	/** What of a store's lease is the holder's. */
	Duration holderLease(Duration granted) {
		if (!isUsable(granted)) {
			throw new LockConfigurationException(
					"The store keeps locks for %s, and 'distributed-lock.lock-delay' is %s, so nothing of that is left for a holder. Set a shorter delay, or a longer session time at the store."
						.formatted(DurationText.of(granted), DurationText.of(this.lockDelay)));
		}
		return granted.minus(this.lockDelay);
	}

	/**
	 * How long a holder may believe in a store's lease, from before its request left.
	 * @return nanoseconds
	 */
	long validity(Duration granted) {
		long nanos = holderLease(granted).toNanos();
		return nanos - nanos / 100 * DRIFT_PERCENT - TimeUnit.MILLISECONDS.toNanos(DRIFT_MILLIS);
	}

	private static void requireRange(String property, Duration value, Duration least) {
		if (value.compareTo(least) < 0 || value.compareTo(LockRequest.MAX_DURATION) > 0) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.%s' is %s. Set it between %s and %s.".formatted(property,
							DurationText.of(value), DurationText.of(least), DurationText.of(LockRequest.MAX_DURATION)));
		}
	}

}
