package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.holdfast.lock.spi.KeptLock;

/**
 * How long a holder may rely on a lease: slightly less time than the store keeps it. The
 * validity starts before the request is sent. The lock delay and an allowance for clock
 * drift shorten it ({@link EngineSettings#validity}).
 *
 * @param until the end of the validity
 * @param kept the holder's part of what the store has granted
 * @param leaseTime the same, or what the first renewal will grant
 */
record Validity(long until, Duration kept, Duration leaseTime) {

	private static final long LATEST_NEWS = TimeUnit.MILLISECONDS.toNanos(100);

	/** Returns the validity of a lease that the store has granted or renewed. */
	static Validity of(Duration lease, long sentAt, EngineSettings settings) {
		Duration kept = settings.holderLease(lease);
		return new Validity(sentAt + settings.validity(lease), kept, kept);
	}

	/**
	 * Returns the validity of a lock that the store keeps for a waiter. The store began
	 * to keep it later than it received the rejected attempt, by the time on its clock.
	 * So the validity is that of a lease from the attempt on, which lasts longer by this
	 * time.
	 * @param lock {@linkplain #isRecent recent} news
	 * @param sentAt when the rejected attempt was sent
	 */
	static Validity of(KeptLock lock, long sentAt, long now, EngineSettings settings) {
		if (!settings.isUsable(lock.time())) {
			return new Validity(now, Duration.ZERO, Duration.ZERO);
		}
		long until = sentAt + settings.validity(lock.after().plus(lock.time()));
		return new Validity(until, settings.holderLease(lock.time()), settings.holderLease(lock.grant().lease()));
	}

	/**
	 * Whether the news of a kept lock has come soon enough to replace an attempt. Late
	 * news may have been overtaken by other events, such as a forced release. News from
	 * the future shows that the clock of the store was moved.
	 * @param sentAt when the rejected attempt was sent
	 */
	static boolean isRecent(KeptLock lock, long sentAt, long now) {
		long age = now - sentAt - lock.after().toNanos();
		return age >= 0 && age <= LATEST_NEWS;
	}

	/**
	 * Returns the validity after a renewal. The store's latest lease counts, even if it
	 * is shorter. The validity ends if the lock delay uses up the whole lease.
	 */
	Validity renewed(Duration lease, long sentAt, EngineSettings settings) {
		return settings.isUsable(lease) ? of(lease, sentAt, settings) : new Validity(sentAt, this.kept, this.leaseTime);
	}

	/**
	 * Whether the lease is new, or renewed in time, so that a next holder can rely on it.
	 */
	boolean isFresh(long now) {
		return freshUntil() - now > 0;
	}

	long freshUntil() {
		return this.until - this.kept.toNanos() / 2;
	}

}
