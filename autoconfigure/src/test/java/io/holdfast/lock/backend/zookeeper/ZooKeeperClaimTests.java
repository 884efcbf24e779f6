package io.holdfast.lock.backend.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockState;
import io.holdfast.lock.backend.zookeeper.ScriptedZooKeeper.Request;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.StoreStatus;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for claims that are granted, abandoned, refused or lost while their requests are
 * under way, in each order.
 */
class ZooKeeperClaimTests extends ScriptedClients {

	@Test
	void nodeThatIsCreatedAfterItsClaimWasAbandonedIsDeleted() {
		this.calls.hold("create");
		CompletableFuture<AcquireResult> attempt = attempt(claim(LOCK));
		Claim claim = this.claim;
		CompletableFuture<Void> abandoned = this.store.abandon(claim).toCompletableFuture();
		assertThat(abandoned).as("its node may still appear").isNotDone();
		this.calls.next().carryOut().answer();
		assertThat(attempt).isCompletedWithValueMatching((result) -> result instanceof AcquireResult.Indeterminate);
		assertThat(abandoned).isCompleted();
		assertNothingLeft();
	}

	@Test
	void nodeOfAnAbandonedClaimWithALateReplyIsDeleted() {
		this.calls.hold("create");
		attempt(claim(LOCK));
		Request<?> creation = this.calls.next().carryOut();
		CompletableFuture<Void> abandoned = this.store.abandon(this.claim).toCompletableFuture();
		creation.answer();
		assertThat(abandoned).isCompleted();
		assertNothingLeft();
	}

	@Test
	void nodeOfAnAbandonedClaimWithALostReplyIsDeleted() {
		this.calls.hold("create");
		attempt(claim(LOCK));
		Request<?> creation = this.calls.next().carryOut();
		CompletableFuture<Void> abandoned = this.store.abandon(this.claim).toCompletableFuture();
		creation.lose();
		assertThat(abandoned).isCompleted();
		assertNothingLeft();
	}

	@Test
	void bothNodesOfARepeatedCreationAreDeleted() {
		this.calls.hold("create");
		attempt(claim(LOCK));
		Request<?> creation = this.calls.next().carryOut();
		CompletableFuture<Void> abandoned = this.store.abandon(this.claim).toCompletableFuture();
		creation.carryOut().answer();
		assertThat(abandoned).isCompleted();
		assertNothingLeft();
	}

	@Test
	void nextCheckOfTheStoreDeletesWhatAnInterruptedOneHasLeft() throws Exception {
		this.calls.hold("children");
		CompletableFuture<StoreStatus> interrupted = this.store.status().toCompletableFuture();
		this.calls.next().lose();
		assertThat(interrupted).isCompletedExceptionally();
		assertThat(this.server.paths()).hasSize(1);
		this.calls.holdNothing();
		assertThat(answer(this.store.status()).state()).isEqualTo(StoreStatus.State.AVAILABLE);
		assertNothingLeft();
	}

	/** In an outage, the claims of all failed acquisitions would fill the memory. */
	@Test
	void claimThatWasNotSentLeavesNothingInMemory() throws Exception {
		this.calls.session(ZooKeeperCalls.UNKNOWN_SESSION);
		Claim claim = claim(LOCK);
		assertThat(ask(this.store, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		answer(this.store.abandon(claim));
		assertNothingLeft();
	}

	@Test
	void attemptAfterTheClaimWasAbandonedSendsNothing() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		this.calls.hold("delete");
		Claim claim = claim(LOCK);
		refused(this.store, claim);
		CompletableFuture<Void> abandoned = this.store.abandon(claim).toCompletableFuture();
		this.calls.sent();
		released(this.other, holder);
		assertThat(attempt(claim))
			.isCompletedWithValueMatching((result) -> !(result instanceof AcquireResult.Acquired));
		assertThat(this.calls.sent()).isEmpty();
		this.calls.next().carryOut().answer();
		assertThat(abandoned).isCompleted();
		assertNothingLeft();
	}

	@Test
	void attemptInProgressOfAnAbandonedClaimIsNotGranted() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim claim = claim(LOCK);
		refused(this.store, claim);
		// so the next attempt asks the leader
		this.calls.connection(ZooKeeperCalls.Connection.SUSPENDED);
		this.calls.connection(ZooKeeperCalls.Connection.CONNECTED);
		this.calls.hold("check");
		released(this.other, holder);
		Request<?> confirmation = this.calls.next();
		CompletableFuture<AcquireResult> attempt = attempt(claim);
		Request<?> check = this.calls.next().carryOut();
		this.calls.holdNothing();
		this.store.abandon(claim);
		confirmation.carryOut().answer();
		check.answer();
		assertThat(attempt).isCompletedWithValueMatching((result) -> !(result instanceof AcquireResult.Acquired));
		assertNothingLeft();
	}

	@Test
	void unansweredWithdrawalIsRetriedAndLeavesNothing() throws Exception {
		granted(this.store, claim(LOCK));
		Claim claim = claim(LOCK);
		refused(this.store, claim);
		this.calls.hold("delete");
		CompletableFuture<Void> first = this.store.abandon(claim).toCompletableFuture();
		assertThat(this.store.abandon(claim).toCompletableFuture()).as("one deletion for both").isNotDone();
		this.calls.next().lose();
		assertThat(first).isCompletedExceptionally();
		assertThat(this.calls.holdsAny()).isFalse();
		this.calls.holdNothing();
		assertThat(this.store.abandon(claim).toCompletableFuture()).isCompleted();
		assertThat(this.server.paths()).hasSize(1);
	}

	@Test
	void refusedLastAttemptIsDeletedWithoutReadingTheQueue() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		this.calls.sent();
		refused(this.store, claim(LOCK).withRemainingWait(Duration.ZERO));
		assertThat(this.calls.sent()).hasSize(3)
			.satisfiesExactly((sent) -> assertThat(sent).startsWith("create"),
					(sent) -> assertThat(sent).startsWith("children"), (sent) -> assertThat(sent).startsWith("delete"));
		released(this.other, holder);
		assertNothingLeft();
	}

	@Test
	void queueRemovedBeforeItsNodeIsCreatedIsCreatedAgain() throws Exception {
		this.calls.hold("create");
		CompletableFuture<AcquireResult> attempt = attempt(claim(LOCK));
		Request<?> first = this.calls.next();
		this.calls.holdNothing();
		first.fail(new KeeperException.NoNodeException());
		assertThat(attempt).isCompletedWithValueMatching((result) -> result instanceof AcquireResult.Acquired);
		assertThat(this.server.paths()).hasSize(1);
	}

	/** Otherwise the wait queue would never be empty, and its numbers never restart. */
	@Test
	void claimThatFindsNoNumberLeftIsRejectedAndLeavesNothing() {
		this.server.created(new QueueNodes("/holdfast", "shop").queue(LOCK), Integer.MAX_VALUE - 1_000_000L);
		assertThat(attempt(claim(LOCK))).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockBackendException.class)
			.withMessageContaining("sequence numbers");
		assertNothingLeft();
	}

	@Test
	void forcedReleaseWithoutAnAnswerLeavesNothingInMemory() throws Exception {
		Grant grant = granted(this.other, claim(LOCK));
		LockState.Holder holder = answer(this.store.find(LOCK)).holders().get(0);
		this.calls.hold("check");
		CompletableFuture<Boolean> revoked = this.store.revoke(LOCK, holder).toCompletableFuture();
		this.calls.next().lose();
		assertThat(revoked).isCompletedExceptionally();
		assertThat(this.store.remembered()).isZero();
		released(this.other, grant);
	}

	@Test
	void holdThatTheServerRefusesToRenewIsForgotten() throws Exception {
		Grant grant = granted(this.store, claim(LOCK));
		this.server.delete(this.server.paths().get(0));
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Refused.class);
		assertNothingLeft();
		assertThat(this.store.release(grant).toCompletableFuture())
			.isCompletedWithValueMatching((answer) -> answer instanceof ReleaseResult.NotHeld);
	}

	@Test
	void holdsAndWaitersOfALostSessionAreForgotten() throws Exception {
		Grant grant = granted(this.store, claim(LOCK));
		refused(this.store, claim(LOCK));
		this.calls.expire(3);
		assertThat(grant.revoked().toCompletableFuture()).isCompleted();
		assertNothingLeft();
	}

	@Test
	void sessionReplacedBeforeItsLossIsReportedIsForgotten() throws Exception {
		Grant grant = granted(this.store, claim(LOCK));
		this.calls.session(3);
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Refused.class);
		assertThat(this.store.remembered()).isZero();
	}

	@Test
	void sessionThatTheClientDoesNotReportIsNoLoss() throws Exception {
		Grant grant = granted(this.store, claim(LOCK));
		this.calls.session(ZooKeeperCalls.UNKNOWN_SESSION);
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Indeterminate.class);
		assertThat(attempt(claim(LOCK)))
			.isCompletedWithValueMatching((result) -> result instanceof AcquireResult.Indeterminate);
		this.calls.session(1);
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Renewed.class);
		assertThat(this.server.paths()).hasSize(1);
	}

	@Test
	void answerThatArrivesInAnotherSessionIsNoRenewal() throws Exception {
		Grant grant = granted(this.store, claim(LOCK));
		this.calls.hold("check");
		CompletableFuture<List<RenewResult>> renewal = this.store.renew(List.of(grant)).toCompletableFuture();
		Request<?> check = this.calls.next().carryOut();
		this.calls.session(3);
		check.answer();
		assertThat(renewal).isCompletedWithValueMatching((results) -> !(results.get(0) instanceof RenewResult.Renewed));
	}

	/**
	 * The client repeats the check in its next session, whose node the claim has by then.
	 */
	@Test
	void lateAnswerAboutAFormerNodeLeavesThePresentOneAlone() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim claim = claim(LOCK);
		refused(this.store, claim);
		this.calls.hold("check");
		CompletableFuture<AcquireResult> late = attempt(claim);
		Grant grant = grantedInTheNextSession(holder, claim);
		this.calls.next().carryOut().answer();
		assertThat(late).isCompletedWithValueMatching((result) -> !(result instanceof AcquireResult.Acquired));
		assertHeld(grant);
	}

	@Test
	void lateConfirmationOfAFormerNodeLeavesThePresentOneAlone() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim claim = claim(LOCK);
		refused(this.store, claim);
		this.calls.hold("check");
		released(this.other, holder);
		Grant grant = grantedInTheNextSession(null, claim);
		this.calls.next().fail(new KeeperException.SessionExpiredException());
		assertHeld(grant);
	}

	/** The loss of the former session is not reported yet. */
	private Grant grantedInTheNextSession(@Nullable Grant holder, Claim claim) throws Exception {
		this.server.endSession(1);
		this.calls.session(3);
		if (holder != null) {
			released(this.other, holder);
		}
		return granted(this.store, claim);
	}

	private void assertHeld(Grant grant) throws Exception {
		this.calls.holdNothing();
		assertThat(this.server.paths()).hasSize(1);
		assertThat(renewed(this.store, grant)).isInstanceOf(RenewResult.Renewed.class);
		released(this.store, grant);
		assertNothingLeft();
	}

	/** An administrator has corrected the ACL between the attempts. */
	@Test
	void rejectionOfAnEarlierAttemptLeavesTheHolderAlone() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim claim = claim(LOCK);
		refused(this.store, claim);
		this.calls.hold("children");
		CompletableFuture<AcquireResult> late = attempt(claim);
		this.calls.holdNothing();
		released(this.other, holder);
		Grant grant = granted(this.store, claim);
		this.calls.next().fail(new KeeperException.NoAuthException());
		assertThat(late).isCompletedExceptionally();
		assertHeld(grant);
	}

	/** An operator would get no answer, and its requests would never end. */
	@Test
	void lookupEndsAlthoughHoldersChangeAllTheTime() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		this.calls.hold("stat");
		CompletableFuture<LockState> found = this.store.find(LOCK).toCompletableFuture();
		for (int i = 0; i < 100 && this.calls.holdsAny(); i++) {
			released(this.other, holder);
			holder = granted(this.other, claim(LOCK));
			this.calls.next().carryOut().answer();
		}
		assertThat(found).isDone();
	}

	/** Readers come and go, so nearly every reading misses one of them. */
	@Test
	void readerThatLeavesDuringALookupDoesNotRepeatIt() throws Exception {
		Grant leaving = granted(this.other, shared());
		Grant staying = granted(this.other, shared());
		this.calls.sent();
		this.calls.hold("stat");
		CompletableFuture<LockState> found = this.store.find(LOCK).toCompletableFuture();
		released(this.other, leaving);
		while (this.calls.holdsAny()) {
			this.calls.next().carryOut().answer();
		}
		assertThat(answer(found).holders()).singleElement()
			.satisfies((reader) -> assertThat(reader.ownerId()).isEqualTo(staying.claim().owner().value()));
		assertThat(answer(found).waiters()).isZero();
		assertThat(this.calls.sent()).filteredOn((sent) -> sent.startsWith("children")).hasSize(1);
	}

	private Claim claim = claim(LOCK);

	private CompletableFuture<AcquireResult> attempt(Claim claim) {
		this.claim = claim;
		return this.store.tryAcquire(claim).toCompletableFuture();
	}

}
