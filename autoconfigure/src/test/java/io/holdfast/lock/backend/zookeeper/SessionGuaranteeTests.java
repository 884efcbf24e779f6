package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.support.SchedulingClock;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SessionGuarantee} with a session of 16 s, whose leader sends a ping at
 * least every 4 s.
 */
class SessionGuaranteeTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(16);

	/** The time that a member of a healthy cluster adds to each request. */
	private static final Duration ROUND_TRIP = Duration.ofMillis(10);

	private final Time time = new Time();

	private final SessionGuarantee guarantee = new SessionGuarantee(this.time, 0);

	@Test
	void sessionLastsFromBeforeItsStart() {
		this.guarantee.seen(1, at(1));
		assertThat(remaining()).isBetween(Duration.ofMillis(14_900), Duration.ofSeconds(15));
	}

	@Test
	void answerProvesNothingOfItsOwnRequest() {
		committedAt(2);
		committedAt(10);
		assertThat(remaining()).as("counted from the beginning").isLessThan(Duration.ofMillis(6_000));
	}

	@Test
	void answersThatFollowAfterAPingProveARequest() {
		committedAt(2);
		committedAt(7);
		committedAt(8);
		assertThat(remaining()).as("the leader may not have read the reply to its ping")
			.isLessThan(Duration.ofSeconds(8));
		committedAt(9);
		assertThat(remaining()).as("counted from the request at 2 s")
			.isBetween(Duration.ofMillis(8_800), Duration.ofSeconds(9));
	}

	@Test
	void answersBeforeThePingIntervalIsOverProveNothing() {
		committedAt(2);
		committedAt(5);
		committedAt(5.5);
		committedAt(5.9);
		assertThat(remaining()).isLessThan(Duration.ofMillis(10_100));
	}

	@Test
	void consecutiveAnswersMayPrecedeThePingOfAPausedLeader() {
		committedAt(2);
		committedAt(7);
		committedAt(7.02);
		committedAt(7.04);
		assertThat(remaining()).isLessThan(Duration.ofSeconds(9));
	}

	@Test
	void leaderThatNoMajorityFollowsProvesNothing() {
		for (int i = 2; i < 12; i++) {
			syncedAt(i);
		}
		assertThat(remaining()).as("counted from the beginning").isLessThan(Duration.ofSeconds(5));
		committedAt(12);
		assertThat(remaining()).as("a majority confirms what was answered before").isGreaterThan(Duration.ofSeconds(8));
	}

	@Test
	void heartbeatsKeepMoreThanHalfOfTheTimeProven() {
		double second = 0.5;
		for (; second < 60; second += TIMEOUT.toMillis() / 18_000.0) {
			syncedAt(second);
		}
		for (int i = 0; i < 100; i++) {
			second += 0.13;
			committedAt(second);
			assertThat(remaining()).isBetween(Duration.ofMillis(9_200), Duration.ofSeconds(12));
		}
	}

	@Test
	void laterSessionLastsFromWhenTheEarlierWasSeenLast() {
		this.guarantee.seen(1, at(1));
		this.guarantee.seen(1, at(20));
		this.guarantee.seen(2, at(22));
		assertThat(remaining(2)).isBetween(Duration.ofMillis(13_900), Duration.ofSeconds(14));
		assertThat(remaining(1)).as("the session that has ended").isNull();
		this.guarantee.answered(1, at(22), TIMEOUT, true);
		this.guarantee.seen(2, at(38));
		assertThat(remaining(2)).isNull();
	}

	/** The leader may have created the session long before the client knows of it. */
	@Test
	void sessionBeingStartedIsNoEarlierSession() {
		this.guarantee.seen(1, at(1));
		this.guarantee.seen(ZooKeeperCalls.NO_SESSION, at(9));
		this.guarantee.seen(2, at(10));
		assertThat(remaining(2)).isBetween(Duration.ofMillis(6_700), Duration.ofSeconds(7));
	}

	@Test
	void lateSightingOfAnEarlierSessionChangesNothing() {
		this.guarantee.seen(1, at(1));
		this.guarantee.seen(2, at(10));
		this.guarantee.seen(1, at(9));
		this.guarantee.seen(2, at(11));
		assertThat(remaining(2)).isBetween(Duration.ofMillis(5_700), Duration.ofSeconds(6));
	}

	@Test
	void reconnectionReachesTheLeader() {
		this.guarantee.seen(1, at(1));
		long sentAt = at(15);
		at(15.5);
		this.guarantee.disconnected(1, sentAt);
		assertThat(remaining()).as("no answer yet").isNull();
		syncedAt(15.6);
		assertThat(remaining()).as("no answer of a majority yet").isNull();
		committedAt(15.7);
		assertThat(remaining()).isBetween(Duration.ofSeconds(15), Duration.ofMillis(15_300));
	}

	@Test
	void requestSentBeforeTheBreakProvesNoReconnection() {
		this.guarantee.seen(1, at(1));
		long sentEarlier = at(14.9);
		long sentAt = at(15);
		at(15.5);
		this.guarantee.disconnected(1, sentAt);
		this.guarantee.answered(1, sentEarlier, TIMEOUT, true);
		assertThat(remaining()).isNull();
	}

	@Test
	void pausesAreShorterWhileLittleIsProven() {
		this.guarantee.seen(1, at(1));
		assertThat(this.guarantee.pause(TIMEOUT)).isEqualTo(TIMEOUT.dividedBy(18));
		at(12);
		assertThat(this.guarantee.pause(TIMEOUT)).isEqualTo(TIMEOUT.dividedBy(64));
	}

	private Duration remaining() {
		return remaining(1);
	}

	private Duration remaining(long session) {
		return this.guarantee.remaining(session, this.time.now, TIMEOUT);
	}

	private long at(double seconds) {
		this.time.now = (long) (seconds * 1e9);
		return this.time.now;
	}

	private void committedAt(double seconds) {
		answered(seconds, true);
	}

	private void syncedAt(double seconds) {
		answered(seconds, false);
	}

	private void answered(double seconds, boolean committed) {
		long sentAt = at(seconds);
		this.guarantee.seen(1, sentAt);
		this.time.now += ROUND_TRIP.toNanos();
		this.guarantee.answered(1, sentAt, TIMEOUT, committed);
	}

	/**
	 * A clock that only the test advances.
	 */
	private static final class Time implements SchedulingClock {

		private long now;

		@Override
		public long nanos() {
			return this.now;
		}

		@Override
		public Runnable after(long delayNanos, Runnable task) {
			throw new UnsupportedOperationException();
		}

	}

}
