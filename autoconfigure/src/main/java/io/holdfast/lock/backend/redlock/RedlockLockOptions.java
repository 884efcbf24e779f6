package io.holdfast.lock.backend.redlock;

import java.time.Duration;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.DurationText;

/**
 * Options for locks on several Redis masters.
 *
 * @param namespace prefix of every key
 * @param responseTimeout the response timeout of the nodes' clients, which limits the
 * node timeout
 * @param nodeTimeout time after which a vote leaves out a node that has not answered
 * @param driftFactor share of a lease by which clocks may differ in speed; the engine
 * allows for at least one hundredth
 * @param longestLease the longest lease that any application is known to request from
 * these nodes; a restarted node does not vote until this time has passed
 * @param restartQuarantine whether a node that restarted or was flushed does not vote for
 * that time
 */
public record RedlockLockOptions(String namespace, Duration responseTimeout, Duration nodeTimeout, double driftFactor,
		Duration longestLease, boolean restartQuarantine) {

	private static final double LARGEST_DRIFT = 0.5;

	/**
	 * Validates the values.
	 * @throws LockConfigurationException if one of them can never work
	 */
	public RedlockLockOptions {
		require(!nodeTimeout.minusMillis(1).isNegative() && nodeTimeout.compareTo(responseTimeout) <= 0,
				"'distributed-lock.redlock.node-timeout' is %s. Set at least 1ms and at most 'distributed-lock.response-timeout', which is %s."
					.formatted(DurationText.of(nodeTimeout), DurationText.of(responseTimeout)));
		require(nodeTimeout.multipliedBy(4).compareTo(longestLease) < 0,
				"'distributed-lock.redlock.node-timeout' is %s, which is too long for a lease of %s. Set less than a quarter of the lease."
					.formatted(DurationText.of(nodeTimeout), DurationText.of(longestLease)));
		require(driftFactor >= 0 && driftFactor < LARGEST_DRIFT,
				"'distributed-lock.redlock.drift-factor' is %s. Set a fraction of the lease, such as 0.01, below %s."
					.formatted(driftFactor, LARGEST_DRIFT));
	}

	private static void require(boolean condition, String message) {
		if (!condition) {
			throw new LockConfigurationException(message);
		}
	}

}
