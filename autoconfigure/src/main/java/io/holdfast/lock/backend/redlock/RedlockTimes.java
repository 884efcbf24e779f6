package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Durations for the nodes and for the engine.
 */
final class RedlockTimes {

	/** How long a node remembers a token after its last grant, in milliseconds. */
	static final long IDLE_TOKEN_MILLIS = Duration.ofDays(1).toMillis();

	private static final long SHORTEST_PAUSE = 10;

	private static final long LONGEST_PAUSE = 200;

	/**
	 * Longest life of a position: a waiter that has not retried after this time is gone.
	 */
	private static final Duration LONGEST_POSITION = Duration.ofSeconds(3);

	private RedlockTimes() {
	}

	static Duration lease(Claim claim) {
		return Duration.ofMillis(Math.max(1, claim.leaseTime().toMillis()));
	}

	/**
	 * Returns how long a contended claim keeps its position in the wait queue; zero if it
	 * will not retry.
	 */
	static Duration position(Claim claim, RedlockOptions options) {
		Duration wait = claim.remainingWait();
		if (wait.compareTo(Duration.ZERO) <= 0) {
			return Duration.ZERO;
		}
		Duration position = (wait.compareTo(LONGEST_POSITION) < 0) ? wait : LONGEST_POSITION;
		return position.plus(options.nodeTimeout());
	}

	/**
	 * Returns when to retry: at random, so that claims that split the votes do not do so
	 * again, but no later than the lock may be free.
	 * @param clock provides the random part
	 * @param rests the remaining times of the nodes that rejected the claim, in
	 * milliseconds
	 * @param needed how many of these nodes must become free
	 */
	static Duration retryAfter(SchedulingClock clock, List<Long> rests, int needed) {
		long random = SHORTEST_PAUSE + clock.jitter(LONGEST_PAUSE - SHORTEST_PAUSE + 1);
		List<Long> sorted = rests.stream().filter((rest) -> rest >= 0).sorted().toList();
		int last = Math.max(0, needed - 1);
		return Duration.ofMillis((last < sorted.size()) ? Math.max(1, Math.min(random, sorted.get(last))) : random);
	}

}
