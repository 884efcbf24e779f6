package io.holdfast.lock.backend.redis;

import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;

/**
 * The message of a release to a waiting claim.
 *
 * @param owner the owner id of the claim
 * @param token the token that the release has granted to it; 0 if the lock is not kept
 * @param micros the time of the server, in microseconds
 * @param keptMillis how long the lock is kept
 * @param sticky whether the server knows the channel for a demand: an earlier attempt,
 * made without a subscription, has none
 */
public record ReleaseNotice(String owner, long token, long micros, long keptMillis, boolean sticky) {

	/** The message to a claim for which the lock is kept. */
	private static final Pattern KEPT = Pattern.compile("([^|]+)\\|(\\d{1,18})\\|(\\d{1,18})\\|(\\d{1,18})\\|([01])");

	/**
	 * Reads a message.
	 * @param message the owner id, or the text that {@code notify.lua} builds
	 * @return the notice
	 */
	public static ReleaseNotice parse(String message) {
		Matcher kept = KEPT.matcher(message);
		return kept.matches()
				? new ReleaseNotice(kept.group(1), Long.parseLong(kept.group(2)), Long.parseLong(kept.group(3)),
						Long.parseLong(kept.group(4)), kept.group(5).equals("1"))
				: new ReleaseNotice(message, 0, 0, 0, false);
	}

	/**
	 * Returns the lock that is kept for a claim.
	 * @param claim the claim
	 * @param wanted signals the demand for the lease, if it is sticky
	 * @param latestToken the latest token at the latest rejection
	 * @param rejectedMicros the time of the server at the latest rejection
	 * @return the lock, or {@code null} if there is none
	 */
	public @Nullable KeptLock keptFor(Claim claim, @Nullable CompletionStage<?> wanted, long latestToken,
			long rejectedMicros) {
		if (this.token == 0) {
			return null;
		}
		Grant grant = new Grant(claim, this.token, RedisTimes.lease(claim));
		return KeptLock.ofMicros((wanted != null && this.sticky) ? grant.withDemand(wanted) : grant, latestToken,
				rejectedMicros, micros(), TimeUnit.MILLISECONDS.toMicros(this.keptMillis));
	}

}
