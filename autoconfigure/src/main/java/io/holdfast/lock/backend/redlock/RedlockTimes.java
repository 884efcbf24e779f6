package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.List;

import io.holdfast.lock.LockMode;
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

	private static final long SHORTEST_GRACE = 20;

	private static final long SHORTEST_POLL = 250;

	private static final long LONGEST_POLL = 500;

	/**
	 * Longest life of a position: a waiter that has not retried after this time is gone.
	 */
	private static final Duration LONGEST_POSITION = Duration.ofSeconds(3);

	/** How long a release keeps the lock for a waiter, until the first renewal. */
	private static final Duration KEPT = Duration.ofSeconds(1);

	private RedlockTimes() {
	}

	static Duration lease(Claim claim) {
		return Duration.ofMillis(Math.max(1, claim.leaseTime().toMillis()));
	}

	/** Whether a claim retries after a rejection. */
	static boolean waits(Claim claim) {
		return claim.remainingWait().compareTo(Duration.ZERO) > 0;
	}

	/**
	 * Returns how long a contended claim keeps its position in the wait queue; zero if it
	 * will not retry.
	 */
	static Duration position(Claim claim, RedlockLockOptions options) {
		if (!waits(claim)) {
			return Duration.ZERO;
		}
		Duration wait = claim.remainingWait();
		Duration position = (wait.compareTo(LONGEST_POSITION) < 0) ? wait : LONGEST_POSITION;
		return position.plus(options.nodeTimeout());
	}

	/**
	 * Returns for how long a node reserves a free lock for a waiter that it has notified.
	 */
	static Duration reservation(RedlockLockOptions options) {
		return options.nodeTimeout().multipliedBy(2);
	}

	/**
	 * Returns for how long a release may keep the lock for a claim; zero if the claim has
	 * to ask for it.
	 */
	static Duration kept(Claim claim, RedlockLockOptions options) {
		if (claim.mode() == LockMode.SHARED || claim.sticky()) {
			return Duration.ZERO;
		}
		Duration kept = (KEPT.compareTo(reservation(options)) > 0) ? KEPT : reservation(options);
		return (kept.compareTo(lease(claim)) < 0) ? kept : lease(claim);
	}

	/**
	 * Returns when to retry after a node has notified a claim, unless a majority does so
	 * before.
	 */
	static Duration retryAfterNotification(SchedulingClock clock) {
		return Duration.ofMillis(SHORTEST_GRACE + clock.jitter(SHORTEST_GRACE));
	}

	/**
	 * Returns when to retry without a notification: at random, so that claims that split
	 * the votes do not do so again, but no later than the lock may be free. Claims that a
	 * majority has queued and will notify retry later than others.
	 */
	static Duration retryAfter(RedlockNodes nodes, Votes votes) {
		List<Long> rests = votes.those(NodeResponse::isNo).stream().map((answer) -> answer.number(1)).toList();
		boolean queued = rests.size() >= nodes.quorum();
		long shortest = queued ? SHORTEST_POLL : SHORTEST_PAUSE;
		long longest = queued ? LONGEST_POLL : LONGEST_PAUSE;
		long random = shortest + nodes.clock().jitter(longest - shortest + 1);
		List<Long> sorted = rests.stream().filter((rest) -> rest >= 0).sorted().toList();
		// how many of the nodes that rejected the claim must become free
		int needed = nodes.quorum() - (nodes.count() - rests.size());
		int last = Math.max(0, needed - 1);
		return Duration.ofMillis((last < sorted.size()) ? Math.max(1, Math.min(random, sorted.get(last))) : random);
	}

}
