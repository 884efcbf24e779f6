package io.holdfast.lock.backend.redlock;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;

import static org.assertj.core.api.Assertions.assertThat;

class MissedRequestsTests {

	private static final LockName LOCK = LockName.of("stock", "1");

	private final MissedRequests missed = new MissedRequests();

	@Test
	void claimMayHaveBeenReceivedUnlessItWasNeverSent() {
		Claim sent = claim(LockMode.EXCLUSIVE);
		Claim unsent = claim(LockMode.EXCLUSIVE);
		this.missed.neverSent(unsent);
		assertThat(this.missed.mayHaveReceived(sent)).isTrue();
		assertThat(this.missed.mayHaveReceived(unsent)).isFalse();
	}

	@Test
	void claimMayHaveBeenReceivedAfterItsNextAttempt() {
		Claim claim = claim(LockMode.EXCLUSIVE);
		this.missed.neverSent(claim);
		this.missed.forget(claim);
		assertThat(this.missed.mayHaveReceived(claim)).isTrue();
	}

	@Test
	void claimWithAnUnansweredAttemptMayBeReceivedLate() {
		Claim claim = claim(LockMode.EXCLUSIVE);
		this.missed.unanswered(claim);
		this.missed.forget(claim);
		assertThat(this.missed.take(every(claim(LockMode.EXCLUSIVE))).late()).isZero();
		assertThat(this.missed.take(every(claim)).late()).isOne();
		assertThat(this.missed.take(every(claim)).late()).isZero();
	}

	@Test
	void claimThatEndsWithoutAReleaseIsForgotten() {
		Claim claim = claim(LockMode.EXCLUSIVE);
		this.missed.neverSent(claim);
		this.missed.ended(claim, 2);
		assertThat(this.missed.mayHaveReceived(claim)).isTrue();
		assertThat(this.missed.unconfirmed()).isZero();
	}

	/** Its owner may still hold the lock. */
	@Test
	void claimThatHasNotEndedIsNotReleased() {
		Claim claim = claim(LockMode.EXCLUSIVE);
		this.missed.unanswered(claim);
		assertThat(this.missed.blocking(LOCK, claim.owner().value())).isEmpty();
	}

	@Test
	void ownerThatBlocksAnotherClaimIsFound() {
		Claim claim = claim(LockMode.EXCLUSIVE);
		this.missed.unconfirmed(every(claim));
		assertThat(this.missed.blocking(LOCK, claim.owner().value())).extracting(MissedRequests.Ended::claim)
			.containsExactly(claim);
		assertThat(this.missed.blocking(LOCK, OwnerId.random().value())).isEmpty();
	}

	@Test
	void readersOfTheSameLockAreFound() {
		Claim reader = claim(LockMode.SHARED);
		this.missed.unconfirmed(every(reader));
		this.missed.unconfirmed(every(claim(LockMode.EXCLUSIVE)));
		String readers = "readers " + OwnerId.random().value() + " " + reader.owner().value();
		assertThat(this.missed.blocking(LOCK, readers)).extracting(MissedRequests.Ended::claim).containsExactly(reader);
		assertThat(this.missed.blocking(LockName.of("stock", "2"), readers)).isEmpty();
	}

	@Test
	void readersThatTheNodeDoesNotNameNeedNoRelease() {
		this.missed.unconfirmed(every(claim(LockMode.SHARED)));
		assertThat(this.missed.blocking(LOCK, "readers " + OwnerId.random().value())).isEmpty();
	}

	/** The node names only some. */
	@Test
	void readersAreReleasedTogether() {
		Claim named = claim(LockMode.SHARED);
		this.missed.unconfirmed(every(claim(LockMode.SHARED)));
		this.missed.unconfirmed(every(named));
		assertThat(this.missed.blocking(LOCK, "readers " + named.owner().value())).hasSize(2);
	}

	@Test
	void confirmedReleaseIsForgotten() {
		Claim claim = claim(LockMode.EXCLUSIVE);
		this.missed.unconfirmed(every(claim));
		this.missed.confirmed(claim);
		assertThat(this.missed.blocking(LOCK, claim.owner().value())).isEmpty();
		assertThat(this.missed.unconfirmed()).isZero();
	}

	/** An attempt may fail, and come later, while its release is sent. */
	@Test
	void confirmedReleaseKeepsAnAttemptThatMayComeLate() {
		Claim claim = claim(LockMode.EXCLUSIVE);
		this.missed.take(every(claim));
		this.missed.unanswered(claim);
		this.missed.overtaken(claim, 2, true, true);
		this.missed.confirmed(claim);
		assertThat(this.missed.blocking(LOCK, claim.owner().value())).hasSize(1);
		assertThat(this.missed.take(every(claim)).late()).isOne();
		assertThat(this.missed.unconfirmed()).isZero();
	}

	/** The release of the claim and that of an earlier attempt may have failed. */
	@Test
	void releaseEndsEveryAttemptAlsoAfterOneThatEndsSome() {
		Claim claim = claim(LockMode.EXCLUSIVE);
		this.missed.unconfirmed(new MissedRequests.Ended(claim, 4, 0));
		this.missed.unconfirmed(new MissedRequests.Ended(claim, 2, 0));
		assertThat(this.missed.blocking(LOCK, claim.owner().value())).extracting(MissedRequests.Ended::attempt)
			.containsExactly(4L);
		this.missed.unconfirmed(every(claim));
		this.missed.unconfirmed(new MissedRequests.Ended(claim, 6, 0));
		assertThat(this.missed.blocking(LOCK, claim.owner().value())).extracting(MissedRequests.Ended::attempt)
			.containsExactly(MissedRequests.EVERY_ATTEMPT);
	}

	/** A server that has ended processes nothing late. */
	@Test
	void anotherServerEndsWhatTheNodeMayGrantLate() {
		Claim claim = claim(LockMode.EXCLUSIVE);
		this.missed.unanswered(claim);
		this.missed.unconfirmed(every(claim));
		this.missed.answeredBy("one");
		this.missed.answeredBy("one");
		assertThat(this.missed.unconfirmed()).isOne();
		this.missed.answeredBy("two");
		assertThat(this.missed.unconfirmed()).isZero();
		assertThat(this.missed.take(every(claim)).late()).isZero();
	}

	@Test
	void claimsOfALongOutageDoNotFillTheHeap() {
		Claim latest = claim(LockMode.EXCLUSIVE);
		for (int i = 0; i < 5_000; i++) {
			this.missed.unconfirmed(every(claim(LockMode.EXCLUSIVE)));
		}
		this.missed.unconfirmed(every(latest));
		assertThat(this.missed.unconfirmed()).isLessThan(2_000);
		assertThat(this.missed.blocking(LOCK, latest.owner().value())).extracting(MissedRequests.Ended::claim)
			.containsExactly(latest);
	}

	private static MissedRequests.Ended every(Claim claim) {
		return new MissedRequests.Ended(claim, MissedRequests.EVERY_ATTEMPT, 0);
	}

	private static Claim claim(LockMode mode) {
		return new Claim(LOCK, OwnerId.random(), mode, Duration.ofSeconds(30), false, Duration.ZERO, false);
	}

}
