package io.holdfast.lock.backend.jdbc;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;

/**
 * The notification of a release: the id of the lock and, if the release keeps the lock
 * for a claim, what that claim gets.
 *
 * @param lockId the id of the lock
 * @param owner the owner id of the claim, or an empty text
 * @param token the token of the claim
 * @param since when the database began to keep the lock, in microseconds on its clock
 * @param keptMicros how long it keeps the lock
 */
record ReleaseNotice(String lockId, String owner, long token, long since, long keptMicros) {

	/**
	 * The notification if the lock is kept for a claim. Other users of the database may
	 * send anything.
	 */
	private static final Pattern KEPT = Pattern
		.compile("([^|]+)\\|([0-9a-f-]{36})\\|(\\d{1,18})\\|(\\d{1,18})\\|(\\d{1,18})");

	static ReleaseNotice parse(String news) {
		Matcher kept = KEPT.matcher(news);
		return kept.matches()
				? new ReleaseNotice(kept.group(1), kept.group(2), Long.parseLong(kept.group(3)),
						Long.parseLong(kept.group(4)), Long.parseLong(kept.group(5)))
				: new ReleaseNotice(news, "", 0, 0, 0);
	}

	/**
	 * Returns the lock that is kept for a claim, or {@code null} if there is none: for a
	 * reader, the row is kept as for a writer, and a sticky lease needs a mark.
	 * @param latestToken the latest token at the latest rejection
	 * @param rejectedMicros the time of the database at the latest rejection
	 */
	@Nullable KeptLock keptFor(Claim claim, long latestToken, long rejectedMicros) {
		boolean kept = this.owner.equals(claim.owner().value()) && claim.mode() == LockMode.EXCLUSIVE
				&& !claim.sticky();
		return kept ? KeptLock.ofMicros(new Grant(claim, this.token, claim.leaseTime()), latestToken, rejectedMicros,
				this.since, this.keptMicros) : null;
	}

}
