package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;

/**
 * The waits of rejected claims: each for a pause and, where releases are notified, for a
 * notification. Thread-safe.
 */
final class ClaimWaits implements AutoCloseable {

	private static final int SHORTEST_POLL_MILLIS = 50;

	/**
	 * The first waiter polls at first as often as a lease that passes from caller to
	 * caller ends, because a release keeps the lock closed for it.
	 */
	private static final int FIRST_WAITER_MILLIS = 4;

	/** How often the pause of the first waiter doubles, up to the shortest poll. */
	private static final int DOUBLINGS = 4;

	private static final int LONGEST_POLL_MILLIS = 150;

	/**
	 * Factor for the polling pause while releases are notified. The remaining polls are a
	 * fallback.
	 */
	private static final int POLL_FACTOR = 6;

	private final JdbcConnections connections;

	private final JdbcLockOptions options;

	private final SchedulingClock clock;

	/** The claims that wait. */
	private final Map<OwnerId, Wait> waiting = new ConcurrentHashMap<>();

	/** The number of the latest attempt of any claim. */
	private final AtomicLong attempts = new AtomicLong();

	private volatile @Nullable ReleaseNotifications notifications;

	ClaimWaits(JdbcConnections connections, JdbcLockOptions options, SchedulingClock clock) {
		this.connections = connections;
		this.options = options;
		this.clock = clock;
	}

	/**
	 * Returns the number of a new attempt, which is greater than that of each earlier
	 * one.
	 */
	long nextAttempt() {
		return this.attempts.incrementAndGet();
	}

	/**
	 * Returns a signal that completes when a retry is worthwhile, or {@code null} if the
	 * claim must poll. Call this method before the claim is announced.
	 * @param attempt the number of the attempt
	 * @param notified whether the database notifies of releases
	 */
	@Nullable CompletionStage<@Nullable ReleaseNotice> expect(Claim claim, long attempt, boolean notified) {
		if (claim.remainingWait().isZero()) {
			return null;
		}
		// first, because a rejection of an earlier attempt then leaves the signal alone
		this.waiting.compute(claim.owner(), (owner, present) -> (present != null) ? present.repeated(attempt)
				: new Wait(this.clock.nanos(), 0, false, attempt));
		CompletionStage<@Nullable ReleaseNotice> signal = (notified && this.options.listen())
				? notifications().expect(claim, this.options.id(claim.lock())) : null;
		boolean listening = isListening();
		this.waiting.computeIfPresent(claim.owner(), (owner, present) -> present.listening(listening));
		return signal;
	}

	private boolean isListening() {
		ReleaseNotifications present = this.notifications;
		return present != null && present.isListening();
	}

	/**
	 * Returns a signal for the demand of a claim's lease, or {@code null} if the lease is
	 * not sticky, because its instance would not learn of a demand. Call this method
	 * before each attempt is sent, and {@link #dismissDemand} after a failed one.
	 * @param notified whether the database delivers messages
	 */
	@Nullable CompletionStage<?> expectDemand(Claim claim, boolean notified) {
		return (claim.sticky() && notified && this.options.listen()) ? notifications().expectDemand(claim.owner())
				: null;
	}

	/** Signals that another claim waits for a sticky lease. */
	void demand(OwnerId owner) {
		ReleaseNotifications present = this.notifications;
		if (present != null) {
			present.demand(owner.value());
		}
	}

	/** Ends the expectation of one attempt, which was not granted. */
	void dismissDemand(OwnerId owner) {
		ReleaseNotifications present = this.notifications;
		if (present != null) {
			present.dismissDemand(owner);
		}
	}

	/** Forgets a sticky lease that has ended. */
	void forgetDemand(OwnerId owner) {
		ReleaseNotifications present = this.notifications;
		if (present != null) {
			present.forgetDemand(owner);
		}
	}

	/** Returns how long a claim has waited since its first rejection. */
	long waitedMicros(OwnerId owner) {
		Wait wait = this.waiting.get(owner);
		return (wait != null) ? TimeUnit.NANOSECONDS.toMicros(this.clock.nanos() - wait.since()) : 0;
	}

	/** Creates the instance at the first use, because it needs PostgreSQL's driver. */
	private ReleaseNotifications notifications() {
		ReleaseNotifications present = this.notifications;
		return (present != null) ? present : createNotifications();
	}

	private synchronized ReleaseNotifications createNotifications() {
		ReleaseNotifications present = this.notifications;
		if (present == null) {
			present = new ReleaseNotifications(this.connections, this.clock);
			this.notifications = present;
		}
		return present;
	}

	/** Forgets the claim that waits, but not the lease that it may have by now. */
	void forget(OwnerId owner) {
		this.waiting.remove(owner);
		forgetNotification(owner);
	}

	private void forgetNotification(OwnerId owner) {
		ReleaseNotifications present = this.notifications;
		if (present != null) {
			present.forget(owner);
		}
	}

	/**
	 * Forgets a claim whose attempt has failed for good, unless a later one waits.
	 * @param attempt the number of the attempt
	 */
	void forgetAttempt(OwnerId owner, long attempt) {
		this.waiting.computeIfPresent(owner, (key, present) -> {
			if (present.attempt() > attempt) {
				return present;
			}
			forgetNotification(owner);
			return null;
		});
	}

	/**
	 * Creates the result of a rejected attempt.
	 * @param signal the signal that the claim expects, if any
	 * @param first whether the claim is the first waiter
	 * @param demanded whether a sticky lease was demanded
	 */
	AcquireResult contended(Claim claim, @Nullable CompletionStage<?> signal, boolean first, boolean demanded) {
		Wait wait = this.waiting.get(claim.owner());
		// a release between the announcement and the start of listening was not noticed
		if (signal != null && wait != null && wait.listening() && isListening()) {
			return new AcquireResult.Contended(signal, Duration.ofMillis(pause() * POLL_FACTOR), demanded);
		}
		Duration pause = Duration.ofMillis(first ? pauseOfFirst(claim) : pause());
		return (signal != null) ? new AcquireResult.Contended(signal, pause, demanded)
				: AcquireResult.Contended.polled(pause, demanded);
	}

	private long pause() {
		return SHORTEST_POLL_MILLIS + this.clock.jitter(LONGEST_POLL_MILLIS - SHORTEST_POLL_MILLIS);
	}

	private long pauseOfFirst(Claim claim) {
		Wait wait = this.waiting.computeIfPresent(claim.owner(), (owner, present) -> present.polledAsFirst());
		int doublings = (wait != null) ? Math.min(DOUBLINGS, wait.pollsAsFirst() - 1) : DOUBLINGS;
		return Math.min(SHORTEST_POLL_MILLIS, FIRST_WAITER_MILLIS << doublings);
	}

	/** Returns how many claims wait, and how many of them and leases are notified. */
	int size() {
		ReleaseNotifications present = this.notifications;
		return this.waiting.size() + ((present != null) ? present.size() : 0);
	}

	/** Stops listening for releases. */
	@Override
	public void close() {
		ReleaseNotifications present = this.notifications;
		if (present != null) {
			present.close();
		}
	}

	/**
	 * A claim that waits.
	 *
	 * @param since when it was first rejected, in nanoseconds of the clock
	 * @param pollsAsFirst how often it was rejected as the first waiter
	 * @param listening whether releases were noticed before the latest attempt
	 * @param attempt the number of that attempt
	 */
	private record Wait(long since, int pollsAsFirst, boolean listening, long attempt) {

		Wait repeated(long number) {
			return new Wait(this.since, this.pollsAsFirst, this.listening, Math.max(this.attempt, number));
		}

		Wait listening(boolean now) {
			return new Wait(this.since, this.pollsAsFirst, now, this.attempt);
		}

		Wait polledAsFirst() {
			return new Wait(this.since, this.pollsAsFirst + 1, this.listening, this.attempt);
		}

	}

}
