package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.backend.zookeeper.ScriptedZooKeeper.Request;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.AcquireResult.Acquired;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.isWanted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the demand of sticky leases: what the backend watches, and for how long.
 */
class ZooKeeperDemandTests extends ScriptedClients {

	private static Claim sticky() {
		return new Claim(LOCK, OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(30), true,
				Duration.ofMinutes(1), false, true);
	}

	private static Claim withoutWait() {
		return claim(LOCK).withRemainingWait(Duration.ZERO);
	}

	private static Claim sharedWithoutWait() {
		return new Claim(LOCK, OwnerId.random(), LockMode.SHARED, Duration.ofSeconds(30), true, Duration.ZERO, false);
	}

	private long watchedReads() {
		return this.calls.sent().stream().filter((sent) -> sent.startsWith("children, watched")).count();
	}

	@Test
	void claimThatHasWithdrawnDemandsTheLease() throws Exception {
		Grant idle = granted(this.store, sticky());
		assertThat(isWanted(idle)).isFalse();
		assertThat(((Contended) ask(this.other, withoutWait())).demanded()).isTrue();
		assertThat(this.server.paths()).hasSize(1);
		assertThat(isWanted(idle)).isTrue();
		released(this.store, idle);
		assertNothingLeft();
	}

	@Test
	void sharedClaimDemandsTheLease() throws Exception {
		Grant idle = granted(this.store, sticky());
		assertThat(((Contended) ask(this.other, sharedWithoutWait())).demanded()).isTrue();
		assertThat(isWanted(idle)).isTrue();
		released(this.store, idle);
	}

	@Test
	void leaseThatIsNotStickyIsNeitherWatchedNorDemanded() throws Exception {
		Grant holder = granted(this.store, claim(LOCK));
		assertThat(watchedReads()).isZero();
		assertThat(((Contended) ask(this.other, withoutWait())).demanded()).isFalse();
		released(this.store, holder);
	}

	/**
	 * The claim for a sticky lease waits itself, so its instance has nothing to release.
	 */
	@Test
	void claimBehindASharedHolderDemandsNothing() throws Exception {
		Claim reader = new Claim(LOCK, OwnerId.random(), LockMode.SHARED, Duration.ofSeconds(30), true,
				Duration.ofMinutes(1), false);
		Grant shared = granted(this.other, reader);
		Claim waiting = sticky();
		refused(this.store, waiting);
		assertThat(((Contended) ask(this.other, withoutWait())).demanded()).isFalse();
		released(this.other, shared);
		released(this.store, granted(this.store, waiting));
		assertNothingLeft();
	}

	/**
	 * The waiter enters the wait queue after the claim is granted, before it is watched.
	 */
	@Test
	void waiterThatComesBeforeTheWatchDemandsTheLease() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim next = sticky();
		refused(this.store, next);
		released(this.other, holder);
		this.calls.hold("children, watched");
		Grant grant = granted(this.store, next);
		Claim last = claim(LOCK);
		refused(this.other, last);
		assertThat(isWanted(grant)).isFalse();
		this.calls.next().carryOut().answer();
		assertThat(isWanted(grant)).isTrue();
		released(this.store, grant);
		released(this.other, granted(this.other, last));
		assertNothingLeft();
	}

	/** The change that made the claim the first is no demand. */
	@Test
	void waiterThatIsAloneWhenItIsGrantedIsNotWanted() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim next = sticky();
		refused(this.store, next);
		released(this.other, holder);
		Grant grant = granted(this.store, next);
		assertThat(grant.sticky()).isTrue();
		assertThat(isWanted(grant)).isFalse();
		refused(this.other, withoutWait());
		assertThat(isWanted(grant)).isTrue();
		released(this.store, grant);
		assertNothingLeft();
	}

	@Test
	void unreadableQueueCountsAsDemand() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim next = sticky();
		refused(this.store, next);
		released(this.other, holder);
		this.calls.hold("children, watched");
		Grant grant = granted(this.store, next);
		this.calls.next().fail(new KeeperException.ConnectionLossException());
		assertThat(isWanted(grant)).isTrue();
		released(this.store, grant);
	}

	@Test
	void failedFirstReadIsRepeatedWithAWatch() throws Exception {
		this.calls.hold("children, watched");
		CompletableFuture<AcquireResult> attempt = this.store.tryAcquire(sticky()).toCompletableFuture();
		Request<?> read = this.calls.next();
		this.calls.holdNothing();
		read.fail(new KeeperException.NoNodeException());
		Grant idle = ((Acquired) answer(attempt)).grant();
		assertThat(isWanted(idle)).isFalse();
		refused(this.other, withoutWait());
		assertThat(isWanted(idle)).isTrue();
		released(this.store, idle);
	}

	/** A claim that is probably alone would have no watch without reading. */
	@Test
	void eachStickyLeaseIsWatchedWithItsFirstReading() throws Exception {
		for (int i = 0; i < 5; i++) {
			released(this.store, granted(this.store, sticky()));
		}
		assertThat(watchedReads()).isEqualTo(5);
		assertNothingLeft();
	}

	@Test
	void repeatedAttemptsDoNotWatchAgain() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim claim = sticky();
		for (int i = 0; i < 5; i++) {
			refused(this.store, claim);
		}
		assertThat(watchedReads()).as("while the claim waits").isOne();
		released(this.other, holder);
		Grant grant = granted(this.store, claim);
		for (int i = 0; i < 5; i++) {
			granted(this.store, claim);
		}
		assertThat(watchedReads()).as("since the claim was granted").isOne();
		released(this.store, grant);
		assertNothingLeft();
	}

	@Test
	void endOfALeaseIsNoLoss() throws Exception {
		Grant idle = granted(this.store, sticky());
		released(this.store, idle);
		assertThat(idle.revoked().toCompletableFuture()).isNotDone();
		assertNothingLeft();
	}

	@Test
	void claimThatGivesUpLeavesNoWatch() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiting = sticky();
		refused(this.store, waiting);
		answer(this.store.abandon(waiting));
		refused(this.store, sticky().withRemainingWait(Duration.ZERO));
		assertThat(this.server.watches()).isZero();
		released(this.other, holder);
		assertNothingLeft();
	}

	@Test
	void lostSessionRevokesAnIdleLease() throws Exception {
		Grant idle = granted(this.store, sticky());
		this.calls.expire(3);
		assertThat(idle.revoked().toCompletableFuture()).isCompleted();
		assertNothingLeft();
	}

}
