package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;

/**
 * How rejected claims wait: for the notification of a release, if there are any, and for
 * a random pause. Thread-safe.
 */
final class ClaimWaits implements AutoCloseable {

	private static final int SHORTEST_POLL_MILLIS = 50;

	private static final int LONGEST_POLL_MILLIS = 150;

	/**
	 * Factor for the polling pause while releases are notified. The remaining polls are a
	 * fallback.
	 */
	private static final int POLL_FACTOR = 6;

	private final DataSource dataSource;

	private final JdbcLockOptions options;

	private final SchedulingClock clock;

	private volatile @Nullable ReleaseNotifications notifications;

	ClaimWaits(DataSource dataSource, JdbcLockOptions options, SchedulingClock clock) {
		this.dataSource = dataSource;
		this.options = options;
		this.clock = clock;
	}

	/**
	 * Returns a signal that completes when a retry is worthwhile, or {@code null} if the
	 * claim must poll. Call this method before the claim is announced.
	 * @param notified whether the database notifies of releases
	 */
	@Nullable CompletionStage<?> expect(Claim claim, boolean notified) {
		return (notified && this.options.listen() && !claim.remainingWait().isZero())
				? notifications().expect(claim, this.options.id(claim.lock())) : null;
	}

	/** Creates the instance at the first use, because it needs PostgreSQL's driver. */
	private synchronized ReleaseNotifications notifications() {
		ReleaseNotifications present = this.notifications;
		if (present == null) {
			present = new ReleaseNotifications(this.dataSource, this.clock);
			this.notifications = present;
		}
		return present;
	}

	void forget(OwnerId owner) {
		ReleaseNotifications present = this.notifications;
		if (present != null) {
			present.forget(owner);
		}
	}

	/**
	 * Creates the result of a rejected attempt.
	 * @param signal the signal that the claim expects, if any
	 */
	AcquireResult contended(@Nullable CompletionStage<?> signal) {
		long pause = SHORTEST_POLL_MILLIS + this.clock.jitter(LONGEST_POLL_MILLIS - SHORTEST_POLL_MILLIS);
		if (signal == null) {
			return AcquireResult.Contended.polled(Duration.ofMillis(pause));
		}
		ReleaseNotifications present = this.notifications;
		boolean notified = present != null && present.isListening();
		return new AcquireResult.Contended(signal, Duration.ofMillis(notified ? pause * POLL_FACTOR : pause));
	}

	/** Stops listening for releases. */
	@Override
	public void close() {
		ReleaseNotifications present = this.notifications;
		if (present != null) {
			present.close();
		}
	}

}
