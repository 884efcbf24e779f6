package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.etcd.jetcd.KeyValue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.lasting;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the key of a claim: requests that etcd carries out late, claims that end
 * while requests are under way, and the leases that keys belong to.
 */
class EtcdClaimTests extends LateEtcdBackend {

	private static Claim fairClaim(Duration lease, boolean renewed) {
		return new Claim(LOCK, OwnerId.random(), LockMode.EXCLUSIVE, lease, renewed, Duration.ofMinutes(1), true);
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void attemptExecutedAfterTheReleaseLeavesNoKey(boolean renewed) throws Exception {
		Claim claim = fairClaim(Duration.ofSeconds(60), renewed);
		this.client.holdBackNextAttempt();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		released(this.backend, granted(this.backend, claim));
		assertThat(this.client.carryOut()).isEqualTo(1);
		assertThat(keys("locks/")).isEmpty();
	}

	@Test
	void endOfAnEarlierLeaseDoesNotAffectAClaimWithAnother() throws Exception {
		EtcdCalls calls = new EtcdCalls(this.client, ROOT);
		EtcdLease earlier = answer(EtcdLease.grant(calls, this.clock, 10));
		EtcdLease present = answer(EtcdLease.grant(calls, this.clock, 10));
		QueueNode waiting = new QueueNode(new ClaimKey(claim(LOCK), 1, new KeyNames(new EtcdKeys(NAMESPACE, "test"))));
		waiting.bind(earlier, null);
		waiting.forgetLease(earlier);
		waiting.bind(present, null);
		CompletableFuture<Void> revoked = waiting.revoked().toCompletableFuture();
		waiting.leaseEnded(earlier);
		assertThat(revoked).isNotDone();
		waiting.leaseEnded(present);
		assertThat(revoked).isDone();
	}

	@Test
	void refusedReleaseAndWithdrawalHaveAKnownOutcome() throws Exception {
		Grant grant = granted(this.backend, claim(LOCK));
		this.client.refusing(true);
		for (CompletionStage<?> request : List.of(this.backend.release(grant), this.backend.abandon(grant.claim()))) {
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> answer(request))
				.havingCause()
				.isInstanceOf(LockBackendException.class)
				.withMessageContainingAll("stock:42", "backend etcd", "PERMISSION_DENIED");
		}
		this.client.refusing(false);
		released(this.backend, grant);
	}

	/** The engine withdraws a claim whose outcome is unknown, but not a rejected one. */
	@Test
	void claimWhoseWithdrawalIsRefusedIsWithdrawnAgain() throws Exception {
		Grant held = granted(this.backend, claim(LOCK));
		Claim second = new Claim(LOCK, OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(60), true,
				Duration.ZERO, true);
		this.client.refuseNextDeletion();
		assertThat(ask(this.backend, second)).isInstanceOf(AcquireResult.Indeterminate.class);
		answer(this.backend.abandon(second));
		released(this.backend, held);
		assertThat(keys("locks/")).isEmpty();
	}

	@Test
	void refusedQuestionsNameTheRemedy() {
		this.client.refusing(true);
		for (CompletionStage<?> question : List.of(this.backend.find(LOCK), this.backend.status())) {
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> answer(question))
				.havingCause()
				.isInstanceOf(LockException.class)
				.withMessageContainingAll("PERMISSION_DENIED", "may read and write keys");
		}
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void attemptExecutedAfterTheWithdrawalLeavesNoKey(boolean renewed) throws Exception {
		Claim claim = fairClaim(Duration.ofSeconds(60), renewed);
		this.client.holdBackNextAttempt();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		answer(this.backend.abandon(claim));
		assertThat(this.client.carryOut()).isEqualTo(1);
		assertThat(keys("locks/")).isEmpty();
		assertThat(this.backend.queueNodes.remembered()).isEmpty();
	}

	@Test
	void attemptExecutedAfterTheLossLeavesNoKey() throws Exception {
		Claim claim = claim(LOCK);
		this.client.holdBackNextAttempt();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		Grant grant = granted(this.backend, claim);
		deleteKey();
		assertThat(renewed(this.backend, grant)).isInstanceOf(RenewResult.Refused.class);
		assertThat(this.client.carryOut()).isEqualTo(1);
		assertThat(keys("locks/")).isEmpty();
	}

	/** The engine withdraws a claim whose outcome is unknown. */
	@Test
	void attemptAfterALossThatIsNotCleanedUpIsIndeterminate() throws Exception {
		Claim claim = claim(LOCK);
		this.client.holdBackNextAttempt();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		granted(this.backend, claim);
		deleteKey();
		this.client.refuseNextDeletion();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		answer(this.backend.abandon(claim));
		assertThat(this.client.carryOut()).isEqualTo(1);
		assertThat(keys("locks/")).isEmpty();
	}

	@Test
	void attemptOvertakenByACleanupIsRetried() throws Exception {
		Claim unanswered = claim(LockName.of("stock", "1"));
		this.client.holdBackNextAttempt();
		assertThat(ask(this.backend, unanswered)).isInstanceOf(AcquireResult.Indeterminate.class);
		answer(this.backend.abandon(unanswered));
		released(this.backend, granted(this.backend, claim(LOCK)));
	}

	@Test
	void deletedSessionKeyIsWrittenAgain() throws Exception {
		released(this.backend, granted(this.backend, claim(LOCK)));
		for (var session : keys("sessions/")) {
			inspection.getKVClient().delete(session.getKey()).get();
		}
		released(this.backend, granted(this.backend, claim(LOCK)));
	}

	@Test
	void abandonedClaimIsNotSentAgain() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiting = claim(LOCK);
		refused(this.backend, waiting);
		this.client.failing(true);
		assertThat(this.backend.abandon(waiting)).isNotNull()
			.satisfies((stage) -> assertThat(stage.toCompletableFuture()).isCompletedExceptionally());
		this.client.failing(false);
		assertThat(ask(this.backend, waiting)).isNotInstanceOf(AcquireResult.Acquired.class);
		released(this.other, holder);
		assertThat(ask(this.backend, waiting)).isNotInstanceOf(AcquireResult.Acquired.class);
		answer(this.backend.abandon(waiting));
		assertThat(keys("locks/")).isEmpty();
	}

	@Test
	void lateRetryOfAReleaseFreesTheLock() throws Exception {
		Grant grant = granted(this.backend, claim(LOCK));
		this.client.failing(true);
		assertThat(answer(this.backend.release(grant))).isInstanceOf(ReleaseResult.Indeterminate.class);
		assertThat(answer(this.backend.release(grant))).isInstanceOf(ReleaseResult.Indeterminate.class);
		this.client.failing(false);
		assertThat(answer(this.backend.release(grant))).isInstanceOf(ReleaseResult.Released.class);
		assertThat(keys("locks/")).isEmpty();
	}

	@Slow
	@Test
	void waiterThatDoesNotRenewIsGrantedAFullLease() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Duration lease = Duration.ofSeconds(8);
		Claim waiting = fairClaim(lease, false);
		refused(this.backend, waiting);
		waitFor(Duration.ofSeconds(3));
		released(this.other, holder);
		Grant grant = granted(this.backend, waiting);
		assertThat(grant.lease()).isGreaterThan(Duration.ofSeconds(7));
		assertThat(secondsLeft()).isGreaterThanOrEqualTo(6);
		released(this.backend, grant);
	}

	@Slow
	@Test
	void positionOfAWaiterLastsLongerThanItsLease() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim first = fairClaim(Duration.ofSeconds(5), false);
		refused(this.backend, first);
		Claim second = fairClaim(Duration.ofSeconds(60), false);
		refused(this.other, second);
		waitFor(Duration.ofSeconds(8));
		released(this.other, holder);
		refused(this.other, second);
		released(this.backend, granted(this.backend, first));
		released(this.other, granted(this.other, second));
	}

	/** Waits for a fixed time: the test depends on it, not on a condition. */
	private static void waitFor(Duration time) {
		Awaitility.await().timeout(time.multipliedBy(2)).pollDelay(time).until(() -> true);
	}

	private static long secondsLeft() throws Exception {
		long lease = key().getLease();
		return inspection.getLeaseClient().timeToLive(lease, io.etcd.jetcd.options.LeaseOption.DEFAULT).get().getTTL();
	}

	/** The key of the claim is still there, with a lease that nobody renews. */
	@Slow
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void claimOfALeaseThatEtcdMissedIsGrantedWithItsNextLease(boolean renewed) throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiting = fairClaim(Duration.ofSeconds(12), renewed);
		refused(this.backend, waiting);
		this.client.missNextLease();
		Awaitility.await().atMost(BOUND).until(() -> !this.client.missesNextLease());
		released(this.other, holder);
		Grant grant = granted(this.backend, waiting);
		assertThat(grant.lease()).isGreaterThan(Duration.ofSeconds(11));
		assertThat(secondsLeft()).isGreaterThanOrEqualTo(10);
		released(this.backend, grant);
		assertThat(keys("locks/")).isEmpty();
		// also the one that the backend believes to have ended
		endSessions();
	}

	@Test
	void keyStaysOnItsLeaseDespiteALateAttachment() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim waiting = fairClaim(Duration.ofSeconds(60), false);
		this.client.loseNextAnswerToAnAttempt();
		assertThat(ask(this.backend, waiting)).isInstanceOf(AcquireResult.Indeterminate.class);
		this.client.holdBackNextAttachment();
		assertThat(ask(this.backend, waiting)).isInstanceOf(AcquireResult.Indeterminate.class);
		this.client.missNextLease();
		released(this.other, holder);
		Grant grant = granted(this.backend, waiting);
		long lease = key().getLease();
		assertThat(this.client.carryOut()).isEqualTo(1);
		assertThat(key().getLease()).isEqualTo(lease);
		released(this.backend, grant);
	}

	/** The client still waits for the answer to the attempt with the former lease. */
	@Slow
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void keyStaysOnItsLeaseDespiteALateAttempt(boolean renewed) throws Exception {
		Claim claim = fairClaim(Duration.ofSeconds(12), renewed);
		this.client.delayNextAttempt();
		CompletableFuture<?> late = this.backend.tryAcquire(claim).toCompletableFuture();
		Awaitility.await().atMost(BOUND).until(this.client::holdsBack);
		this.client.missNextLease();
		Awaitility.await().atMost(BOUND).until(() -> !renewed || !this.client.missesNextLease());
		Grant grant = granted(this.backend, claim);
		long lease = key().getLease();
		assertThat(this.client.carryOut()).isEqualTo(1);
		answer(late);
		assertThat(key().getLease()).isEqualTo(lease);
		released(this.backend, grant);
		assertThat(keys("locks/")).isEmpty();
		// also the one that the backend believes to have ended
		endSessions();
	}

	/** An operator has deleted the key of the earlier attempt meanwhile. */
	@Test
	void lateAnswerAboutAFormerKeyLeavesThePresentOneAlone() throws Exception {
		Claim claim = claim(LOCK);
		this.client.delayNextAnswerToAnAttempt();
		CompletableFuture<AcquireResult> late = this.backend.tryAcquire(claim).toCompletableFuture();
		Awaitility.await().atMost(BOUND).until(() -> !keys("locks/").isEmpty());
		deleteKey();
		Grant grant = granted(this.backend, claim);
		assertLateAnswerIsIgnored(late, grant);
	}

	@Test
	void lateFailureToFindAFormerKeyLeavesThePresentOneAlone() throws Exception {
		Grant holder = granted(this.backend, claim(LOCK));
		Claim waiting = claim(LOCK);
		refused(this.backend, waiting);
		this.client.delayNextReading();
		CompletableFuture<AcquireResult> late = this.backend.tryAcquire(waiting).toCompletableFuture();
		assertThat(this.client.holdsBack()).isTrue();
		for (KeyValue key : keys("locks/")) {
			inspection.getKVClient().delete(key.getKey()).get();
		}
		assertThat(renewed(this.backend, holder)).isInstanceOf(RenewResult.Refused.class);
		Grant grant = granted(this.backend, waiting);
		assertLateAnswerIsIgnored(late, grant);
	}

	private void assertLateAnswerIsIgnored(CompletableFuture<AcquireResult> late, Grant present) throws Exception {
		assertThat(this.client.carryOut()).isEqualTo(1);
		AcquireResult result = answer(late);
		assertHeld(present);
		assertThat(result).isInstanceOf(AcquireResult.Indeterminate.class);
	}

	@Test
	void lateAnswerLeavesTheWatchOfALaterAttemptAlone() throws Exception {
		Grant holder = granted(this.other, claim(LOCK));
		Claim before = claim(LOCK);
		refused(this.other, before);
		Claim waiting = claim(LOCK);
		this.client.delayNextAnswerToAnAttempt();
		CompletableFuture<AcquireResult> late = this.backend.tryAcquire(waiting).toCompletableFuture();
		Awaitility.await().atMost(BOUND).until(() -> keys("locks/").size() == 3);
		answer(this.other.abandon(before));
		CompletionStage<?> signal = refused(this.backend, waiting);
		assertThat(this.client.carryOut()).isEqualTo(1);
		answer(late);
		released(this.other, holder);
		awaitSignal(signal);
		released(this.backend, granted(this.backend, waiting));
	}

	private void assertHeld(Grant grant) throws Exception {
		assertThat(keys("locks/")).hasSize(1);
		assertThat(renewed(this.backend, grant)).isInstanceOf(RenewResult.Renewed.class);
		released(this.backend, grant);
		assertThat(keys("locks/")).isEmpty();
		assertThat(this.backend.queueNodes.remembered()).isEmpty();
	}

	@Test
	void leaseTimesOfTheSameSecondsShareASession() throws Exception {
		List<Grant> grants = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			grants.add(granted(this.backend, new Claim(LockName.of("stock", "n" + i), OwnerId.random(),
					LockMode.EXCLUSIVE, Duration.ofMillis(29_001 + 49 * i), true, Duration.ZERO, false)));
		}
		assertThat(keys("sessions/")).hasSize(1);
		for (Grant grant : grants) {
			released(this.backend, grant);
		}
	}

	@Slow
	@Test
	void unusedSessionEnds() throws Exception {
		for (int seconds = 2; seconds < 6; seconds++) {
			released(this.backend, granted(this.backend, fairClaim(Duration.ofSeconds(seconds), true)));
		}
		Grant used = granted(this.backend, fairClaim(Duration.ofSeconds(6), true));
		Awaitility.await().atMost(BOUND.multipliedBy(2)).until(() -> keys("sessions/").size() == 1);
		assertThat(renewed(this.backend, used)).isInstanceOf(RenewResult.Renewed.class);
		released(this.backend, used);
		released(this.backend, granted(this.backend, fairClaim(Duration.ofSeconds(2), true)));
	}

	@Test
	void lossLeavesNothingInThisJvm() throws Exception {
		Grant deleted = granted(this.backend, claim(LOCK));
		deleteKey();
		assertThat(renewed(this.backend, deleted)).isInstanceOf(RenewResult.Refused.class);
		Grant revoked = granted(this.backend, claim(LOCK));
		endSessions();
		awaitSignal(revoked.revoked());
		Grant expired = granted(this.backend, lasting(LOCK, Duration.ofSeconds(60)));
		inspection.getLeaseClient().revoke(key().getLease()).get();
		assertThat(renewed(this.backend, expired)).isInstanceOf(RenewResult.Refused.class);
		assertThat(this.backend.queueNodes.remembered()).isEmpty();
	}

}
