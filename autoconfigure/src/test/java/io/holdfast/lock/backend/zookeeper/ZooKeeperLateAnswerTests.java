package io.holdfast.lock.backend.zookeeper;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.apache.zookeeper.KeeperException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.backend.zookeeper.ScriptedZooKeeper.Request;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for responses that arrive when the claim has made another attempt or has ended,
 * and for what a rejected request leaves.
 */
class ZooKeeperLateAnswerTests extends ScriptedClients {

	@AfterEach
	void nothingIsLeft() {
		assertNothingLeft();
	}

	/** An operator has deleted the node of the hold meanwhile. */
	@Test
	void lateAnswerThatTheNodeOfAHoldIsGoneIsALoss() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim claim = claim(LOCK);
		refused(this.store, claim);
		this.calls.hold("check");
		CompletableFuture<AcquireResult> late = this.store.tryAcquire(claim).toCompletableFuture();
		Request<?> check = this.calls.next();
		released(this.other, holder);
		this.calls.next().carryOut().answer();
		Grant grant = granted(this.store, claim);
		this.server.delete(this.server.paths().get(0));
		check.carryOut().answer();
		assertThat(late).isCompletedWithValueMatching((result) -> result instanceof AcquireResult.Indeterminate);
		assertThat(grant.revoked().toCompletableFuture()).as("the loss").isCompleted();
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Refused.class);
		assertThat(answer(this.store.release(grant))).isInstanceOf(ReleaseResult.NotHeld.class);
	}

	/** The engine withdraws the claim, whose node would block the lock. */
	@Test
	void nodeThatARepeatedAttemptCreatesAfterALossIsDeleted() throws Exception {
		Claim claim = claim(LOCK);
		Grant grant = granted(this.store, claim);
		this.server.endSession(1);
		this.calls.session(3);
		this.calls.hold("create");
		CompletableFuture<AcquireResult> repeated = this.store.tryAcquire(claim).toCompletableFuture();
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Refused.class);
		this.calls.next().carryOut().answer();
		assertThat(repeated).isCompleted();
		answer(this.store.abandon(claim));
	}

	/** An administrator has corrected the ACL between the attempts. */
	@Test
	void watchThatWasRejectedIsSetByTheNextAttempt() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim claim = claim(LOCK);
		this.calls.hold("watch");
		refused(this.store, claim);
		this.calls.next().fail(new KeeperException.NoAuthException());
		this.calls.holdNothing();
		CompletionStage<?> signal = refused(this.store, claim);
		released(this.other, holder);
		assertThat(signal.toCompletableFuture()).isCompleted();
		released(this.store, granted(this.store, claim));
	}

	/**
	 * The client repeats the request after an interruption. It would keep the claim in
	 * memory for as long as the holder keeps the lock.
	 */
	@Test
	void watchThatIsSetAfterItsWaiterHasGivenUpIsRemoved() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim claim = claim(LOCK);
		this.calls.hold("watch");
		refused(this.store, claim);
		answer(this.store.abandon(claim));
		this.calls.next().carryOut().answer();
		assertThat(this.server.watches()).isZero();
		released(this.other, holder);
	}

	/** Without its node, the later attempt would wait for a signal that never comes. */
	@Test
	void lateRejectionOfAnEarlierAttemptLeavesTheWaiterInTheQueue() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim claim = claim(LOCK);
		refused(this.store, claim);
		this.calls.hold("check");
		CompletableFuture<AcquireResult> late = this.store.tryAcquire(claim).toCompletableFuture();
		this.calls.holdNothing();
		CompletionStage<?> signal = refused(this.store, claim);
		this.calls.next().fail(new KeeperException.NoAuthException());
		assertThat(late).isCompletedExceptionally();
		released(this.other, holder);
		assertThat(signal.toCompletableFuture()).isCompleted();
		released(this.store, granted(this.store, claim));
	}

	@Test
	void bothNodesOfARepeatedCreationThatIsRejectedAreDeleted() {
		this.server.created(new QueueNodes("/holdfast", "shop").queue(LOCK), Integer.MAX_VALUE - 1_000_000L);
		this.calls.hold("create");
		CompletableFuture<AcquireResult> attempt = this.store.tryAcquire(claim(LOCK)).toCompletableFuture();
		this.calls.next().carryOut().carryOut().answer();
		assertThat(attempt).isCompletedExceptionally();
	}

	/** An administrator has withdrawn the right to read the wait queue. */
	@Test
	void waiterThatMayNoLongerReadTheQueueBlocksNobody() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim claim = claim(LOCK);
		refused(this.store, claim);
		this.calls.hold("check");
		CompletableFuture<Void> abandoned = this.store.abandon(claim).toCompletableFuture();
		this.calls.next().fail(new KeeperException.NoAuthException());
		assertThat(abandoned).as("another node may be left").isCompletedExceptionally();
		released(this.other, holder);
		released(this.other, granted(this.other, claim(LOCK)));
		this.calls.holdNothing();
		answer(this.store.abandon(claim));
	}

	/** A listener of the application has delayed the client's notification. */
	@Test
	void nodeWithALostReplyIsDeletedAfterALateLoss() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim claim = claim(LOCK);
		refused(this.store, claim);
		this.server.endSession(1);
		this.calls.session(3);
		loseReply("create", () -> this.store.tryAcquire(claim));
		loseReply("check", () -> this.store.abandon(claim));
		this.calls.connection(ZooKeeperCalls.Connection.LOST);
		answer(this.store.abandon(claim));
		released(this.other, holder);
	}

	@Test
	void nodeOfAWithdrawnClaimIsDeletedAfterALateLoss() throws Exception {
		this.server.endSession(1);
		this.calls.session(3);
		Claim claim = claim(LOCK);
		loseReply("create", () -> this.store.tryAcquire(claim));
		loseReply("check", () -> this.store.abandon(claim));
		this.calls.connection(ZooKeeperCalls.Connection.LOST);
		answer(this.store.abandon(claim));
	}

	@Test
	void renewalOfAFormerNodeForgetsNoOtherNode() throws Exception {
		Claim claim = claim(LOCK);
		Grant grant = granted(this.store, claim);
		this.server.endSession(1);
		this.calls.session(3);
		loseReply("create", () -> this.store.tryAcquire(claim));
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Refused.class);
		answer(this.store.abandon(claim));
	}

	private void loseReply(String kind, Runnable request) {
		this.calls.hold(kind);
		request.run();
		this.calls.next().carryOut().lose();
		this.calls.holdNothing();
	}

	/**
	 * The error may come after the request was sent, as when there is too little memory.
	 */
	@Test
	void claimWhoseCreationFailsUnexpectedlyIsWithdrawn() throws Exception {
		Claim claim = claim(LOCK);
		this.calls.hold("create");
		this.calls.failNextCall(new NoClassDefFoundError("undeployed"));
		assertThat(answer(this.store.tryAcquire(claim))).isInstanceOf(AcquireResult.Indeterminate.class);
		this.calls.next().carryOut();
		assertThat(this.store.abandon(claim).toCompletableFuture()).isCompleted();
	}

}
