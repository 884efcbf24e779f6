package io.holdfast.lock;

import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

/**
 * Which lock to acquire, and how; or which locks, all or none. What is {@code null} comes
 * from the application's properties.
 *
 * <p>
 * Several locks are acquired in one global order, whatever the order they were named in,
 * so that two callers with the same locks never wait for each other.
 *
 * @param locks the locks and how each is held, in the global order; at least one and at
 * most {@value #MAX_LOCKS}
 * @param waitTime the longest wait to acquire; zero makes one attempt. {@code null}: the
 * property {@code distributed-lock.wait-time}, or zero for {@code tryAcquire}
 * @param leaseTime how long the store keeps the lock without renewal, greater than zero.
 * {@code null}: the property {@code distributed-lock.lease-time}
 * @param renew whether the lease is renewed while the lock is held; {@code true} by
 * default. If not, the hold is lost when its lease ends. For a lock that the thread holds
 * already, the lease of the outer hold stays as it is
 * @param maxHold when renewal stops and the lease is left to run out, at least the
 * {@code leaseTime} if there is one; {@code null}: never
 * @param minHold how long the lock stays closed at least, even if its holder lets go
 * sooner; zero by default. The longest of nested holds is kept. When the application
 * stops earlier, the store keeps the lock for the rest of the time; ZooKeeper cannot.
 * Without renewal it ends with the lease at the latest
 * @param fair whether claims are granted strictly in the order of their arrival;
 * {@code false} by default
 * @param interruptOnLoss whether the acquiring thread is interrupted when the hold is
 * lost; {@code null}: the property {@code distributed-lock.interrupt-on-loss}
 * @param backend the store; {@code null}: the application's default store
 */
public record LockRequest(SortedMap<LockName, LockMode> locks, @Nullable Duration waitTime,
		@Nullable Duration leaseTime, boolean renew, @Nullable Duration maxHold, Duration minHold, boolean fair,
		@Nullable Boolean interruptOnLoss, @Nullable String backend) {

	/** The most locks of one request. */
	public static final int MAX_LOCKS = 1_000;

	/** The longest duration of any setting: a year, far from every overflow. */
	public static final Duration MAX_DURATION = Duration.ofDays(366);

	/**
	 * Check the locks and the durations.
	 * @throws LockConfigurationException if there is no lock or there are too many, or a
	 * duration is negative, too long or, for a lease, not at least a millisecond, or two
	 * contradict each other: a {@code maxHold} below {@code leaseTime} or {@code minHold}
	 */
	public LockRequest {
		if (locks.isEmpty() || locks.size() > MAX_LOCKS) {
			throw new LockConfigurationException(
					"A request names %s locks. Name between 1 and %s.".formatted(locks.size(), MAX_LOCKS));
		}
		locks = Collections.unmodifiableSortedMap(new TreeMap<>(locks));
		DurationLimits limits = new DurationLimits(locks.firstKey());
		limits.require("waitTime", waitTime, Duration.ZERO);
		limits.require("leaseTime", leaseTime, Duration.ofMillis(1));
		limits.require("maxHold", maxHold, Duration.ofMillis(1));
		limits.require("minHold", minHold, Duration.ZERO);
		limits.requireNoContradiction(leaseTime, maxHold, minHold);
	}

	/**
	 * A request for the one lock of a name, with all defaults.
	 * @param name the fixed part of the lock's name
	 * @return the request
	 */
	public static LockRequest of(String name) {
		return forLock(LockName.of(name)).build();
	}

	/**
	 * A request for the lock of one thing of a kind, with all defaults.
	 * @param name the fixed part of the lock's name
	 * @param key the evaluated part
	 * @return the request
	 * @throws LockConfigurationException if the name is not valid, or the key is
	 * {@code null}, blank or too long
	 */
	public static LockRequest of(String name, Object key) {
		return forLock(LockName.of(name, key)).build();
	}

	/**
	 * Start a request.
	 * @param lock the lock
	 * @return a builder with all defaults
	 */
	public static Builder forLock(LockName lock) {
		return new Builder().and(lock, LockMode.EXCLUSIVE);
	}

	/**
	 * Start a request for several locks, all or none.
	 * @param locks the locks, in any order; what is named twice is locked once
	 * @return a builder with all defaults
	 */
	public static Builder forLocks(Collection<LockName> locks) {
		Builder builder = new Builder();
		locks.forEach((lock) -> builder.and(lock, LockMode.EXCLUSIVE));
		return builder;
	}

	/**
	 * The lock, or the first in the global order.
	 * @return its name
	 */
	public LockName lock() {
		return this.locks.firstKey();
	}

	/**
	 * The same request for other locks, held in the way of the first of this one.
	 * @param locks the locks
	 * @return the request
	 */
	public LockRequest withLocks(Collection<LockName> locks) {
		SortedMap<LockName, LockMode> others = new TreeMap<>();
		LockMode mode = this.locks.getOrDefault(lock(), LockMode.EXCLUSIVE);
		locks.forEach((lock) -> others.put(lock, mode));
		return new LockRequest(others, this.waitTime, this.leaseTime, this.renew, this.maxHold, this.minHold, this.fair,
				this.interruptOnLoss, this.backend);
	}

	/**
	 * Start a request from this one.
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
	 * Builds a {@link LockRequest}. Each setting is described there. Not thread-safe.
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
		 * Add a lock. One that is there already is held exclusively if either asks for
		 * that.
		 * @param lock the lock
		 * @param mode how it is held
		 * @return this builder
		 */
		public Builder and(LockName lock, LockMode mode) {
			this.locks.merge(lock, mode, (one, other) -> (one == LockMode.EXCLUSIVE) ? one : other);
			return this;
		}

		/**
		 * Hold all locks that were added so far in this way.
		 * @param mode the mode
		 * @return this builder
		 */
		public Builder mode(LockMode mode) {
			this.locks.replaceAll((lock, before) -> mode);
			return this;
		}

		/**
		 * Set {@link LockRequest#waitTime()}.
		 * @param waitTime the value
		 * @return this builder
		 */
		public Builder waitTime(@Nullable Duration waitTime) {
			this.waitTime = waitTime;
			return this;
		}

		/**
		 * Set {@link LockRequest#leaseTime()}.
		 * @param leaseTime the value
		 * @return this builder
		 */
		public Builder leaseTime(@Nullable Duration leaseTime) {
			this.leaseTime = leaseTime;
			return this;
		}

		/**
		 * Set {@link LockRequest#renew()}.
		 * @param renew the value
		 * @return this builder
		 */
		public Builder renew(boolean renew) {
			this.renew = renew;
			return this;
		}

		/**
		 * Set {@link LockRequest#maxHold()}.
		 * @param maxHold the value
		 * @return this builder
		 */
		public Builder maxHold(@Nullable Duration maxHold) {
			this.maxHold = maxHold;
			return this;
		}

		/**
		 * Set {@link LockRequest#minHold()}.
		 * @param minHold the value
		 * @return this builder
		 */
		public Builder minHold(Duration minHold) {
			this.minHold = minHold;
			return this;
		}

		/**
		 * Set {@link LockRequest#fair()}.
		 * @param fair the value
		 * @return this builder
		 */
		public Builder fair(boolean fair) {
			this.fair = fair;
			return this;
		}

		/**
		 * Set {@link LockRequest#interruptOnLoss()}.
		 * @param interruptOnLoss the value
		 * @return this builder
		 */
		public Builder interruptOnLoss(@Nullable Boolean interruptOnLoss) {
			this.interruptOnLoss = interruptOnLoss;
			return this;
		}

		/**
		 * Set {@link LockRequest#backend()}.
		 * @param backend the value
		 * @return this builder
		 */
		public Builder backend(@Nullable String backend) {
			this.backend = backend;
			return this;
		}

		/**
		 * Make the request.
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
