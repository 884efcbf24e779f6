package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.support.SchedulingClock;

/**
 * The times that we hand to the nodes and to the engine.
 */
final class RedlockTimes {

	/** How long a token is remembered after its last grant, in milliseconds. */
	static final long IDLE_TOKEN_MILLIS = Duration.ofDays(1).toMillis();

	static final Duration LONGEST_LEASE = Duration.ofDays(36500);

	private static final long SHORTEST_PAUSE = 10;

	private static final long LONGEST_PAUSE = 200;

	/** Who has not come so long after a refusal has vanished. */
	private static final Duration LONGEST_PLACE = Duration.ofSeconds(3);

	private RedlockTimes() {
	}

	static Duration lease(Claim claim) {
		Duration lease = claim.leaseTime();
		return Duration
			.ofMillis(Math.max(1, (lease.compareTo(LONGEST_LEASE) < 0) ? lease.toMillis() : LONGEST_LEASE.toMillis()));
	}

	/**
	 * How long a refused claim keeps its place among those who wait; zero if it does not
	 * come back.
	 */
	static Duration place(Claim claim, RedlockOptions options) {
		Duration patience = claim.patience();
		if (patience.isNegative() || patience.isZero()) {
			return Duration.ZERO;
		}
		Duration place = (patience.compareTo(LONGEST_PLACE) < 0) ? patience : LONGEST_PLACE;
		return place.plus(options.nodeTimeout());
	}

	/**
	 * When to ask again: at random, so that claims that split the votes do not do so
	 * again, but not after the lock may be free.
	 * @param clock gives the random part
	 * @param rests the remaining times of the nodes that refused, in milliseconds
	 * @param needed how many of them must become free
	 */
	static Duration retryAfter(SchedulingClock clock, List<Long> rests, int needed) {
		long random = SHORTEST_PAUSE + clock.jitter(LONGEST_PAUSE - SHORTEST_PAUSE + 1);
		List<Long> sorted = rests.stream().filter((rest) -> rest >= 0).sorted().toList();
		int last = Math.max(0, needed - 1);
		return Duration.ofMillis((last < sorted.size()) ? Math.max(1, Math.min(random, sorted.get(last))) : random);
	}

}
