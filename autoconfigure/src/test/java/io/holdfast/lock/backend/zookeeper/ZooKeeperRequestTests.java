package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.backend.zookeeper.LastNodes.LastNode;
import io.holdfast.lock.backend.zookeeper.ScriptedZooKeeper.Request;
import io.holdfast.lock.backend.zookeeper.ZooKeeperCalls.Connection;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the requests that a claim does not need, because what it knows proves that it
 * is the first, and for the cases in which that is not proven.
 */
class ZooKeeperRequestTests extends ScriptedClients {

	private static void pairs(ZooKeeperLockBackend store, int count) throws Exception {
		for (int i = 0; i < count; i++) {
			released(store, granted(store, claim(LOCK)));
		}
	}

	@Test
	void lockThatNoOtherClientUsesTakesTwoRequests() throws Exception {
		pairs(this.store, 5);
		this.calls.sent();
		pairs(this.store, 1);
		assertThat(this.calls.sent()).satisfiesExactly((sent) -> assertThat(sent).startsWith("create"),
				(sent) -> assertThat(sent).startsWith("delete"));
	}

	/** The server responds to the release right before it responds to the claim. */
	@Test
	void claimSentBehindAReleaseTakesOneRequest() throws Exception {
		pairs(this.store, 5);
		Grant held = granted(this.store, claim(LOCK));
		this.calls.sent();
		this.calls.hold("");
		this.store.release(held);
		CompletionStage<AcquireResult> next = this.store.tryAcquire(claim(LOCK));
		this.calls.holdNothing();
		while (this.calls.holdsAny()) {
			this.calls.next().carryOut().answer();
		}
		assertThat(answer(next)).isInstanceOf(AcquireResult.Acquired.class);
		assertThat(this.calls.sent()).satisfiesExactly((sent) -> assertThat(sent).startsWith("delete"),
				(sent) -> assertThat(sent).startsWith("create"));
	}

	@Test
	void lockOfAnotherClientIsNoticed() throws Exception {
		pairs(this.store, 5);
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiting = claim(LOCK);
		refused(this.store, waiting);
		released(this.other, holder);
		released(this.store, granted(this.store, waiting));
	}

	@Test
	void sharedClaimsOfOtherClientsAreNoticed() throws Exception {
		pairs(this.store, 5);
		Grant first = granted(this.store, shared());
		Grant second = granted(this.other, shared());
		Claim waiting = claim(LOCK);
		refused(this.store, waiting);
		released(this.store, first);
		refused(this.store, waiting);
		released(this.other, second);
		released(this.store, granted(this.store, waiting));
	}

	/** The sequence number of a hold does not prove that earlier shared holds ended. */
	@Test
	void releaseOfASharedHoldProvesNothing() throws Exception {
		Grant first = granted(this.other, shared());
		for (int i = 0; i < 5; i++) {
			released(this.store, granted(this.store, shared()));
		}
		refused(this.store, claim(LOCK));
		released(this.other, first);
	}

	/** The new wait queue counts its nodes from zero again. */
	@Test
	void holderInARecreatedWaitQueueIsNoticed() throws Exception {
		pairs(this.store, 6);
		this.server.reap();
		pairs(this.other, 5);
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiting = claim(LOCK);
		refused(this.store, waiting);
		released(this.other, holder);
		released(this.store, granted(this.store, waiting));
	}

	@Test
	void nodeFollowsAnotherOnlyIfTheWaitQueueCannotHaveBeenRecreated() {
		LastNode last = new LastNode(10, 1_000, false);
		assertThat(last.isFollowedBy(11, 1_002)).isTrue();
		assertThat(last.isFollowedBy(11, 1_010)).isTrue();
		assertThat(last.isFollowedBy(11, 1_011)).isFalse();
		assertThat(last.isFollowedBy(12, 1_002)).isFalse();
		assertThat(last.isFollowedBy(10, 1_002)).isFalse();
		assertThat(last.isFollowedBy(11, 900)).isFalse();
	}

	@Test
	void lastNodesOfOnlyTheLatestWaitQueuesAreKept() {
		LastNodes nodes = new LastNodes();
		for (int i = 0; i < 1_001; i++) {
			nodes.put("queue" + i, new LastNode(i, i, false));
		}
		assertThat(nodes.of("queue0")).isNull();
		assertThat(nodes.of("queue1")).isNotNull();
		nodes.clear();
		assertThat(nodes.of("queue1")).isNull();
	}

	@Test
	void nextWaiterIsGrantedBeforeTheLeaderAnswers() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiting = claim(LOCK);
		refused(this.store, waiting);
		this.calls.sent();
		this.calls.hold("check");
		released(this.other, holder);
		Grant grant = granted(this.store, waiting);
		assertThat(this.calls.sent()).hasSize(1).first().asString().startsWith("check");
		this.calls.next().carryOut().answer();
		this.calls.holdNothing();
		released(this.store, grant);
	}

	@Test
	void waiterBehindAnAbandonedClaimIsNotGranted() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim abandoned = claim(LOCK);
		refused(this.other, abandoned);
		Claim waiting = claim(LOCK);
		refused(this.store, waiting);
		answer(this.other.abandon(abandoned));
		refused(this.store, waiting);
		released(this.other, holder);
		released(this.store, granted(this.store, waiting));
	}

	@Test
	@DisplayName("A shared waiter is granted the lock beside shared holders once the exclusive claim is gone")
	void sharedWaiterIsGrantedOnceTheExclusiveClaimIsGone() throws Exception {
		Grant holder = granted(this.other, shared());
		Claim exclusive = claim(LOCK);
		refused(this.other, exclusive);
		Claim waiting = shared();
		refused(this.store, waiting);
		answer(this.other.abandon(exclusive));
		released(this.store, granted(this.store, waiting));
		released(this.other, holder);
	}

	@Test
	void waiterAsksTheLeaderFirstAfterAnInterruption() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiting = claim(LOCK);
		refused(this.store, waiting);
		this.calls.connection(Connection.SUSPENDED);
		this.calls.connection(Connection.CONNECTED);
		assertGrantedOnceTheLeaderAnswers(holder, waiting);
	}

	/** The grant would be short, or not even cover the lock delay. */
	@Test
	void waiterAsksTheLeaderFirstAfterMostOfTheSessionTimeout() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiting = claim(LOCK);
		refused(this.store, waiting);
		this.calls.clock().advance(ScriptedZooKeeper.SESSION_TIMEOUT.dividedBy(2).plusSeconds(1));
		assertGrantedOnceTheLeaderAnswers(holder, waiting);
	}

	private void assertGrantedOnceTheLeaderAnswers(Grant holder, Claim waiting) throws Exception {
		this.calls.hold("check");
		released(this.other, holder);
		Request<?> confirmation = this.calls.next();
		CompletableFuture<AcquireResult> attempt = this.store.tryAcquire(waiting).toCompletableFuture();
		confirmation.carryOut().answer();
		assertThat(attempt).isNotDone();
		Request<?> check = this.calls.next();
		this.calls.holdNothing();
		check.carryOut().answer();
		assertThat(attempt).isCompletedWithValueMatching((result) -> result instanceof AcquireResult.Acquired);
	}

	/** An operator deletes the nodes of a wait queue. */
	@Test
	void grantWhoseNodeWasDeletedIsLostRightAfterwards() throws Exception {
		granted(this.other, claim(LOCK));
		Claim waiting = claim(LOCK);
		this.calls.hold("check");
		refusedAndDeleted(waiting);
		Grant grant = granted(this.store, waiting);
		this.calls.next().carryOut().answer();
		this.calls.holdNothing();
		awaitSignal(grant.revoked());
		assertThat(answer(this.store.confirm(grant))).isFalse();
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Refused.class);
		assertThat(this.store.remembered()).isZero();
	}

	/** Deletes the node of a waiter before that of the holder. */
	private void refusedAndDeleted(Claim waiting) throws Exception {
		String holder = this.server.paths().get(0);
		refused(this.store, waiting);
		for (String path : this.server.paths()) {
			if (!path.equals(holder)) {
				this.server.delete(path);
			}
		}
		this.server.delete(holder);
	}

	/** The leader answers before the waiter continues. */
	@Test
	void waiterWhoseNodeWasDeletedCreatesAnother() throws Exception {
		granted(this.other, claim(LOCK));
		Claim waiting = claim(LOCK);
		refusedAndDeleted(waiting);
		Grant grant = granted(this.store, waiting);
		assertThat(this.server.paths()).hasSize(1);
		released(this.store, grant);
	}

	/** The application has started for longer than a session lasts. */
	@Test
	void claimInASessionOfUnknownAgeNamesTheProofThatItLacks() throws Exception {
		ZooKeeperLockBackend late = this.calls.backend(Duration.ofHours(1));
		assertThat(answer(late.tryAcquire(claim(LOCK)))).isInstanceOfSatisfying(AcquireResult.Indeterminate.class,
				(result) -> assertThat(result.cause()).isInstanceOf(LockBackendException.class)
					.hasMessageContaining("about a third of the session timeout")
					.hasMessageEndingWith("Repeat the call."));
	}

}
