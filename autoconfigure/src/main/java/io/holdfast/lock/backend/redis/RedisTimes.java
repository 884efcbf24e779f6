package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.List;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

/**
 * Durations for Redis, in whole milliseconds.
 */
final class RedisTimes {

	/** How long Redis remembers a token after its last grant. */
	static final String IDLE_TOKEN_MILLIS = millis(Duration.ofDays(1));

	/** Polling interval without a notification, which can be lost with its JVM. */
	private static final Duration POLL = Duration.ofSeconds(1);

	/**
	 * Longest life of a position in the wait queue. A claim asks at least once per
	 * {@link #POLL}, so its position need not last longer.
	 */
	private static final Duration MAX_POSITION = Duration.ofSeconds(10);

	private static final Duration POSITION_MARGIN = Duration.ofSeconds(1);

	private RedisTimes() {
	}

	static boolean waits(Claim claim) {
		return claim.remainingWait().compareTo(Duration.ZERO) > 0;
	}

	/** Returns how long a contended claim keeps its position in the wait queue. */
	static String positionMillis(Claim claim) {
		return waits(claim) ? millis(min(claim.remainingWait(), MAX_POSITION).plus(POSITION_MARGIN)) : "0";
	}

	static Duration lease(Claim claim) {
		return Duration.ofMillis(Math.max(1, claim.leaseTime().toMillis()));
	}

	/**
	 * Returns when to retry at the latest.
	 * @param rest the remaining time that Redis returned; -1 for a key without expiry,
	 * which Holdfast did not write
	 */
	static Duration retryAfter(long rest) {
		return (rest == -1) ? POLL : min(Duration.ofMillis(Math.max(1, rest)), POLL);
	}

	/**
	 * Returns how long to wait for the slowest of several renewals. This is less than the
	 * caller waits for all of them, which is at most a third of the shortest lease.
	 */
	static Duration renewalTimeout(List<Grant> grants, Duration responseTimeout) {
		Duration shortest = grants.stream()
			.map((grant) -> lease(grant.claim()))
			.reduce(RedisTimes::min)
			.orElse(responseTimeout);
		return min(shortest.dividedBy(4), responseTimeout.multipliedBy(3).dividedBy(4));
	}

	static String millis(Duration duration) {
		return Long.toString(duration.toMillis());
	}

	private static Duration min(Duration one, Duration other) {
		return (one.compareTo(other) < 0) ? one : other;
	}

}
