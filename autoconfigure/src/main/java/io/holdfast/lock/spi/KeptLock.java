package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

/**
 * The news to a waiting claim that the store keeps the lock for it. The claimant may hold
 * the lock without another attempt. The first renewal starts the lease that it claims.
 *
 * <p>
 * The news may arrive late by any time, so it says on the store's own clock how long
 * after the rejected attempt that was: the claimant knows when it sent this attempt. It
 * may also be older than the rejection, which only the tokens show reliably, because the
 * clock may have been set back.
 *
 * @param grant the grant
 * @param after the time from when the store received the rejected attempt until it began
 * to keep the lock; positive
 * @param time how long the store keeps the lock for the claim from then on, at most the
 * lease of the grant
 */
public record KeptLock(Grant grant, Duration after, Duration time) {

	/**
	 * Returns the news of a store that measures in microseconds, or {@code null} if it
	 * rejected the claim after it had begun to keep the lock: then it no longer does.
	 * @param grant the grant
	 * @param latestToken the latest token that the store had granted when it rejected the
	 * attempt
	 * @param rejectedAt when the store rejected the attempt, on its clock
	 * @param keptSince when the store began to keep the lock, on the same clock
	 * @param keptFor how long the store keeps the lock
	 * @return the news
	 */
	public static @Nullable KeptLock ofMicros(Grant grant, long latestToken, long rejectedAt, long keptSince,
			long keptFor) {
		long after = keptSince - rejectedAt;
		long lease = TimeUnit.NANOSECONDS.toMicros(grant.lease().toNanos());
		return (grant.storeToken() > latestToken && after > 0)
				? new KeptLock(grant, micros(after), micros(Math.min(keptFor, lease))) : null;
	}

	private static Duration micros(long micros) {
		return Duration.ofNanos(TimeUnit.MICROSECONDS.toNanos(micros));
	}

}
