package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.support.DurationText;

/**
 * Settings that apply to every lock whose request does not override them.
 *
 * @param waitTime the maximum wait to acquire a lock; zero makes one attempt
 * @param leaseTime how long a store keeps a lock without renewal
 * @param responseTimeout the time after which the outcome of an unanswered request to a
 * store counts as unknown
 * @param awaitRelease whether the caller waits until the store has responded to a release
 * @param interruptOnLoss whether the acquiring thread is interrupted when its hold is
 * lost
 * @param shutdownTimeout the maximum wait at shutdown for running bodies to complete
 * @param lockDelay how long a lock stays closed after it was lost rather than released
 * @param handoff limits how long a lease passes from caller to caller of this JVM
 * @param sticky how long a lease stays in this JVM without a hold; zero if it ends with
 * its last hold
 */
public record EngineSettings(Duration waitTime, Duration leaseTime, Duration responseTimeout, boolean awaitRelease,
		boolean interruptOnLoss, Duration shutdownTimeout, Duration lockDelay, Handoff handoff, Duration sticky) {

	/** Allowance for the difference in clock speed between this host and a store. */
	private static final int DRIFT_PERCENT = 1;

	private static final int DRIFT_MILLIS = 2;

	/**
	 * Settings of an application that configures none. The wait time is 5 seconds, the
	 * lease time 30 seconds, the response timeout one second, and the shutdown timeout 10
	 * seconds. There is no lock delay, all options are disabled, and one lease serves up
	 * to 64 holds within 5 milliseconds.
	 */
	public static final EngineSettings DEFAULTS = new EngineSettings(Duration.ofSeconds(5), Duration.ofSeconds(30),
			Duration.ofSeconds(1), false, false, Duration.ofSeconds(10), Duration.ZERO, Handoff.DEFAULTS,
			Duration.ZERO);

	/**
	 * Validates the durations.
	 * @throws LockConfigurationException if a duration is out of range
	 */
	public EngineSettings {
		requireRange("wait-time", waitTime, Duration.ZERO);
		requireRange("lease-time", leaseTime, Duration.ofMillis(1));
		requireRange("response-timeout", responseTimeout, Duration.ofMillis(1));
		requireRange("shutdown-timeout", shutdownTimeout, Duration.ZERO);
		requireRange("lock-delay", lockDelay, Duration.ZERO);
		requireRange("sticky", sticky, Duration.ZERO);
		if (awaitRelease && !sticky.isZero()) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.sticky' is %s, and 'distributed-lock.await-release' is 'true'. A caller cannot await the release of a lease that stays. Remove one of them."
						.formatted(DurationText.of(sticky)));
		}
	}

	/**
	 * Checks that the application's lease, if it applies, ends by the {@code maxHold} of
	 * a request, and covers its {@code minHold} if it is not renewed. {@link LockRequest}
	 * checks a lease of its own.
	 * @param request the request
	 * @param leaseTime the application's lease
	 * @param user describes the requester in messages
	 * @throws LockConfigurationException if the lease is too long or too short
	 */
	public static void requireLease(LockRequest request, Duration leaseTime, Supplier<String> user) {
		if (request.leaseTime() != null) {
			return;
		}
		Duration maxHold = request.maxHold();
		if (maxHold != null && maxHold.compareTo(leaseTime) < 0) {
			String most = DurationText.of(maxHold);
			throw new LockConfigurationException(
					"%s asks for a maxHold of %s, but its lease is %s ('distributed-lock.lease-time'). maxHold only stops the renewal, so the store would still keep the lock for the whole lease. Set a 'leaseTime' of at most %s beside it."
						.formatted(user.get(), most, DurationText.of(leaseTime), most));
		}
		if (!request.renew() && request.minHold().compareTo(leaseTime) > 0) {
			String least = DurationText.of(request.minHold());
			throw new LockConfigurationException(
					"%s asks for a minHold of %s, but its lease is %s ('distributed-lock.lease-time') and is not renewed. The lock would be free when the lease expires. Set a 'leaseTime' of at least %s beside it, or let it be renewed."
						.formatted(user.get(), least, DurationText.of(leaseTime), least));
		}
	}

	/** Returns the lease to request from a store, which includes the lock delay. */
	Duration storeLease(Duration lease) {
		return lease.plus(this.lockDelay);
	}

	/** Whether a store's lease is longer than the lock delay. */
	boolean isUsable(Duration granted) {
		return granted.compareTo(this.lockDelay) > 0;
	}

	/** Returns the holder's part of a store's lease, without the lock delay. */
	Duration holderLease(Duration granted) {
		if (!isUsable(granted)) {
			throw new LockConfigurationException(
					"The store keeps locks for %s and 'distributed-lock.lock-delay' is %s, so no time is left for a holder. Set a shorter delay, or a longer session timeout at the store."
						.formatted(DurationText.of(granted), DurationText.of(this.lockDelay)));
		}
		return granted.minus(this.lockDelay);
	}

	/**
	 * Returns how long a holder may rely on a store's lease, from before the request is
	 * sent. This is the holder's part, reduced by {@value #DRIFT_PERCENT} percent and
	 * {@value #DRIFT_MILLIS} ms for clock drift.
	 * @return nanoseconds
	 */
	long validity(Duration granted) {
		long nanos = holderLease(granted).toNanos();
		return nanos - nanos / 100 * DRIFT_PERCENT - TimeUnit.MILLISECONDS.toNanos(DRIFT_MILLIS);
	}

	/**
	 * Limits of the handoff of one lease between callers of this JVM, so that callers in
	 * other JVMs can acquire the lock, too. They restart while no such caller waits.
	 *
	 * @param maxHolds the number of holds that one lease serves, from 1, which disables
	 * handoff, to {@value #MOST_HOLDS}
	 * @param maxTime the time after the grant in which the lease is passed on; zero
	 * disables handoff
	 */
	public record Handoff(int maxHolds, Duration maxTime) {

		/** As many as a fencing token can tell apart. */
		static final int MOST_HOLDS = 1024;

		/** Up to 64 holds within 5 milliseconds. */
		public static final Handoff DEFAULTS = new Handoff(64, Duration.ofMillis(5));

		/**
		 * Validates the limits.
		 * @throws LockConfigurationException if a limit is out of range
		 */
		public Handoff {
			if (maxHolds < 1 || maxHolds > MOST_HOLDS) {
				throw new LockConfigurationException(
						"The property 'distributed-lock.handoff.max-holds' is %s. Set it between 1, which disables handoff, and %s."
							.formatted(maxHolds, MOST_HOLDS));
			}
			requireRange("handoff.max-time", maxTime, Duration.ZERO);
		}

	}

	private static void requireRange(String property, Duration value, Duration least) {
		if (value.compareTo(least) < 0 || value.compareTo(LockRequest.MAX_DURATION) > 0) {
			throw new LockConfigurationException(
					"The property 'distributed-lock.%s' is %s. Set it between %s and %s.".formatted(property,
							DurationText.of(value), DurationText.of(least), DurationText.of(LockRequest.MAX_DURATION)));
		}
	}

}
