package io.holdfast.lock;

import java.time.Duration;
import java.util.Collection;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * A request for one lock, or for several locks of which all or none are acquired. Unless
 * noted otherwise, a {@code null} value is taken from the application's properties.
 *
 * <p>
 * Several locks are acquired in one global order, regardless of the order in which they
 * are named, so two callers with the same locks never wait for each other.
 *
 * @param locks the locks and their modes, in the global order; at least one and at most
 * {@value #MAX_LOCKS}
 * @param waitTime the longest time to wait for the lock; zero makes one attempt.
 * {@code null}: the property {@code distributed-lock.wait-time}, or zero for
 * {@code tryAcquire}
 * @param leaseTime the time for which the store keeps the lock without renewal, greater
 * than zero. {@code null}: the property {@code distributed-lock.lease-time}
 * @param renew whether the lease is renewed while the lock is held; {@code true} by
 * default. If not, the hold is lost when its lease expires. Has no effect on a lock that
 * the thread already holds: the lease of the outer hold remains unchanged
 * @param maxHold the time after which renewal stops and the lease expires, at least the
 * lease, which is {@code leaseTime} or the application's; {@code null}: never
 * @param minHold the shortest time for which the lock stays closed, even if its holder
 * releases it earlier; zero by default. The longest {@code minHold} of nested holds
 * applies. If the application stops earlier, the store keeps the lock for the remaining
 * time; ZooKeeper and advisory locks of PostgreSQL cannot do this. Without renewal, at
 * most the lease; if the outer hold is not renewed, or lost, it may end the time
 * @param fair whether claims are granted strictly in order of arrival, also those of
 * other instances, among callers that all request it; {@code false} by default
 * @param interruptOnLoss whether the acquiring thread is interrupted when the hold is
 * lost; {@code null}: the property {@code distributed-lock.interrupt-on-loss}. If the
 * body does not respond to the interrupt, the thread remains interrupted after the call
 * @param backend the name of the backend; {@code null}: the application's default backend
 */
public record LockRequest(SortedMap<LockName, LockMode> locks, @Nullable Duration waitTime,
		@Nullable Duration leaseTime, boolean renew, @Nullable Duration maxHold, Duration minHold, boolean fair,
		@Nullable Boolean interruptOnLoss, @Nullable String backend) {

	/** The maximum number of locks in one request. */
	public static final int MAX_LOCKS = 1_000;

	/** The maximum duration of any setting: one year, far below every overflow. */
	public static final Duration MAX_DURATION = Duration.ofDays(366);

	/**
	 * Validates the locks and the durations.
	 * @throws LockConfigurationException if there is no lock or there are too many; if a
	 * duration is negative, too long or, for a lease, shorter than one millisecond; or if
	 * {@code maxHold} is below {@code leaseTime} or {@code minHold}; or if a lease
	 * without renewal is shorter than {@code minHold}
	 */
	public LockRequest {
		if (locks.isEmpty() || locks.size() > MAX_LOCKS) {
			throw new LockConfigurationException(
					"A request names %s locks. Name between 1 and %s.".formatted(locks.size(), MAX_LOCKS));
		}
		locks = SingleLock.copyOf(locks);
		DurationLimits limits = new DurationLimits(locks.firstKey());
		limits.require("waitTime", waitTime, Duration.ZERO);
		limits.require("leaseTime", leaseTime, Duration.ofMillis(1));
		limits.require("maxHold", maxHold, Duration.ofMillis(1));
		limits.require("minHold", minHold, Duration.ZERO);
		limits.requireNoContradiction(leaseTime, maxHold, minHold);
		if (!renew) {
			limits.requireLeaseFor(minHold, leaseTime);
		}
	}

	/**
	 * Creates a request for the single lock of a name, with all defaults.
	 * @param name the fixed part of the lock's name
	 * @return the request
	 */
	public static LockRequest of(String name) {
		return exclusive(LockName.of(name));
	}

	/**
	 * Creates a request for the lock of one resource of a kind, with all defaults.
	 * @param name the fixed part of the lock's name
	 * @param key the evaluated part
	 * @return the request
	 * @throws LockConfigurationException if the name is not valid, or the key is
	 * {@code null}, blank, too long or has no text that is the same in every JVM
	 */
	public static LockRequest of(String name, Object key) {
		return exclusive(LockName.of(name, key));
	}

	private static LockRequest exclusive(LockName lock) {
		return new LockRequest(new SingleLock(lock, LockMode.EXCLUSIVE), null, null, true, null, Duration.ZERO, false,
				null, null);
	}

	/**
	 * Starts to build a request.
	 * @param lock the lock
	 * @return a builder with all defaults
	 */
	public static Builder forLock(LockName lock) {
		return new Builder().and(lock, LockMode.EXCLUSIVE);
	}

	/**
	 * Starts to build a request for several locks, of which all or none are acquired.
	 * @param locks the locks, in any order; duplicates are locked once
	 * @return a builder with all defaults
	 */
	public static Builder forLocks(Collection<LockName> locks) {
		Builder builder = new Builder();
		locks.forEach((lock) -> builder.and(lock, LockMode.EXCLUSIVE));
		return builder;
	}

	/**
	 * Returns the lock, or the first lock in the global order.
	 * @return the name of the lock
	 */
	public LockName lock() {
		return this.locks.firstKey();
	}

	/**
	 * Returns the same request for other locks, each in the mode of this request's first
	 * lock.
	 * @param locks the locks
	 * @return the request
	 */
	public LockRequest withLocks(Collection<LockName> locks) {
		LockMode mode = this.locks.getOrDefault(lock(), LockMode.EXCLUSIVE);
		return new LockRequest(SingleLock.orSeveral(locks, mode), this.waitTime, this.leaseTime, this.renew,
				this.maxHold, this.minHold, this.fair, this.interruptOnLoss, this.backend);
	}

	/**
	 * Starts to build a request from this one.
	 * @return a builder with all values of this request
	 */
	public Builder toBuilder() {
		Builder builder = new Builder().waitTime(this.waitTime)
			.leaseTime(this.leaseTime)
			.renew(this.renew)
			.maxHold(this.maxHold)
			.minHold(this.minHold)
			.fair(this.fair)
			.interruptOnLoss(this.interruptOnLoss)
			.backend(this.backend);
		this.locks.forEach(builder::and);
		return builder;
	}

	/**
	 * Builds a {@link LockRequest}, which describes each setting. Not thread-safe.
	 */
	public static final class Builder {

		private final SortedMap<LockName, LockMode> locks = new TreeMap<>();

		private @Nullable Duration waitTime;

		private @Nullable Duration leaseTime;

		private boolean renew = true;

		private @Nullable Duration maxHold;

		private Duration minHold = Duration.ZERO;

		private boolean fair;

		private @Nullable Boolean interruptOnLoss;

		private @Nullable String backend;

		private Builder() {
		}

		/**
		 * Adds a lock. A lock that was added before becomes exclusive if either mode is
		 * exclusive.
		 * @param lock the lock
		 * @param mode the mode of the lock
		 * @return this builder
		 */
		public Builder and(LockName lock, LockMode mode) {
			this.locks.merge(lock, mode, (one, other) -> (one == LockMode.EXCLUSIVE) ? one : other);
			return this;
		}

		/**
		 * Sets the mode of all locks that were added so far.
		 * @param mode the mode
		 * @return this builder
		 */
		public Builder mode(LockMode mode) {
			this.locks.replaceAll((lock, before) -> mode);
			return this;
		}

		/**
		 * Sets {@link LockRequest#waitTime()}.
		 * @param waitTime the value
		 * @return this builder
		 */
		public Builder waitTime(@Nullable Duration waitTime) {
			this.waitTime = waitTime;
			return this;
		}

		/**
		 * Sets {@link LockRequest#leaseTime()}.
		 * @param leaseTime the value
		 * @return this builder
		 */
		public Builder leaseTime(@Nullable Duration leaseTime) {
			this.leaseTime = leaseTime;
			return this;
		}

		/**
		 * Sets {@link LockRequest#renew()}.
		 * @param renew the value
		 * @return this builder
		 */
		public Builder renew(boolean renew) {
			this.renew = renew;
			return this;
		}

		/**
		 * Sets {@link LockRequest#maxHold()}.
		 * @param maxHold the value
		 * @return this builder
		 */
		public Builder maxHold(@Nullable Duration maxHold) {
			this.maxHold = maxHold;
			return this;
		}

		/**
		 * Sets {@link LockRequest#minHold()}.
		 * @param minHold the value
		 * @return this builder
		 */
		public Builder minHold(Duration minHold) {
			this.minHold = minHold;
			return this;
		}

		/**
		 * Sets {@link LockRequest#fair()}.
		 * @param fair the value
		 * @return this builder
		 */
		public Builder fair(boolean fair) {
			this.fair = fair;
			return this;
		}

		/**
		 * Sets {@link LockRequest#interruptOnLoss()}.
		 * @param interruptOnLoss the value
		 * @return this builder
		 */
		public Builder interruptOnLoss(@Nullable Boolean interruptOnLoss) {
			this.interruptOnLoss = interruptOnLoss;
			return this;
		}

		/**
		 * Sets {@link LockRequest#backend()}.
		 * @param backend the value
		 * @return this builder
		 */
		public Builder backend(@Nullable String backend) {
			this.backend = backend;
			return this;
		}

		/**
		 * Builds the request.
		 * @return the request
		 * @throws LockConfigurationException if a duration is out of range or there is no
		 * lock
		 */
		public LockRequest build() {
			return new LockRequest(this.locks, this.waitTime, this.leaseTime, this.renew, this.maxHold, this.minHold,
					this.fair, this.interruptOnLoss, this.backend);
		}

	}

}
