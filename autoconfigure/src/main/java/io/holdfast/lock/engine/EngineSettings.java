package io.holdfast.lock.engine;

import java.time.Duration;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockRequest;

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
 */
public record EngineSettings(Duration waitTime, Duration leaseTime, Duration responseTimeout, boolean awaitRelease,
		boolean interruptOnLoss, Duration shutdownTimeout, boolean watchLockOrder) {

	/** The settings of an application that sets none. */
	public static final EngineSettings DEFAULTS = new EngineSettings(Duration.ofSeconds(5), Duration.ofSeconds(30),
			Duration.ofSeconds(1), false, false, Duration.ofSeconds(10), false);

	/**
	 * Check the durations.
	 * @throws LockConfigurationException if one is out of range
	 */
	public EngineSettings {
		requireRange("wait-time", waitTime, Duration.ZERO);
		requireRange("lease-time", leaseTime, Duration.ofMillis(1));
		requireRange("response-timeout", responseTimeout, Duration.ofMillis(1));
		requireRange("shutdown-timeout", shutdownTimeout, Duration.ZERO);
	}

	private static void requireRange(String property, Duration value, Duration least) {
		if (value.compareTo(least) < 0 || value.compareTo(LockRequest.MAX_DURATION) > 0) {
			throw new LockConfigurationException("The property 'distributed-lock.%s' is %s. Set it between %s and %s."
				.formatted(property, value, least, LockRequest.MAX_DURATION));
		}
	}

}
