package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.lasting;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the request that uses up the quota of etcd. etcd carries it out, although it
 * answers as if it did not.
 */
class EtcdLastSpaceTests extends LateEtcdBackend {

	static Stream<Claim> claims() {
		return Stream.of(claim(LOCK), lasting(LOCK, Duration.ofMinutes(5)));
	}

	/** The session would keep it alive as long as this JVM lives. */
	@ParameterizedTest
	@MethodSource("claims")
	void rejectedClaimLeavesNoKey(Claim claim) throws Exception {
		this.client.useUpQuotaWithNextAttempt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> answer(this.backend.tryAcquire(claim)))
			.havingCause()
			.isInstanceOf(LockBackendException.class)
			.withMessageContaining("etcdctl alarm disarm");
		assertThat(keys("locks/")).isEmpty();
		released(this.other, granted(this.other, claim(LOCK)));
	}

	/** The next attempt has found the key, and was granted, before the rejection came. */
	@ParameterizedTest
	@MethodSource("claims")
	void lateRejectionLeavesTheHold(Claim claim) throws Exception {
		this.client.useUpQuotaWithNextAttempt();
		this.client.delayNextAnswerToAnAttempt();
		CompletionStage<AcquireResult> first = this.backend.tryAcquire(claim);
		Awaitility.await("an attempt that is carried out").until(() -> keys("locks/").size() == 1);
		Grant grant = granted(this.backend, claim);
		this.client.carryOut();
		assertThat(first).failsWithin(BOUND);
		assertThatHolderExcludesOthers(grant);
	}

	/** An operator has deleted the key of the hold meanwhile. */
	@ParameterizedTest
	@MethodSource("claims")
	void keyOfALateRejectionDuringAHoldIsDeleted(Claim claim) throws Exception {
		this.client.delayNextAttempt();
		CompletionStage<AcquireResult> late = this.backend.tryAcquire(claim);
		Awaitility.await("an attempt under way").until(this.client::holdsBack);
		Grant grant = granted(this.backend, claim);
		deleteKey();
		this.client.useUpQuotaWithNextAttempt();
		assertThat(this.client.carryOut()).isOne();
		assertThat(late).failsWithin(BOUND);
		assertThat(keys("locks/")).hasSize(1);
		assertThat(renewed(this.backend, grant)).isInstanceOf(RenewResult.Refused.class);
		assertThat(keys("locks/")).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("claims")
	void claimWhoseKeyMayBeLeftStartsOver(Claim claim) throws Exception {
		this.client.useUpQuotaWithNextAttempt();
		this.client.refuseNextDeletion();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		released(this.backend, granted(this.backend, claim));
		assertThat(keys("locks/")).isEmpty();
	}

	@ParameterizedTest
	@MethodSource("claims")
	void claimWhoseKeyMayBeLeftIsWithdrawn(Claim claim) throws Exception {
		this.client.useUpQuotaWithNextAttempt();
		this.client.refuseNextDeletion();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		assertThat(keys("locks/")).hasSize(1);
		assertThat(this.backend.abandon(claim)).succeedsWithin(BOUND);
		assertThat(keys("locks/")).isEmpty();
	}

	/** A slow member carries out the deletion of the former key. */
	@ParameterizedTest
	@MethodSource("claims")
	void lateDeletionLeavesTheKeyOfAClaimThatStartedOver(Claim claim) throws Exception {
		this.client.useUpQuotaWithNextAttempt();
		this.client.holdBackNextDeletion();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		Grant grant = granted(this.backend, claim);
		assertThat(this.client.carryOut()).isOne();
		assertThatHolderExcludesOthers(grant);
	}

	@ParameterizedTest
	@MethodSource("claims")
	void lateReleaseLeavesTheKeyOfAClaimThatStartedOver(Claim claim) throws Exception {
		Grant first = granted(this.backend, claim);
		this.client.holdBackNextDeletion();
		assertThat(answer(this.backend.release(first))).isInstanceOf(ReleaseResult.Indeterminate.class);
		Grant second = granted(this.backend, claim);
		assertThat(this.client.carryOut()).isOne();
		assertThatHolderExcludesOthers(second);
	}

	/** The engine may repeat an attempt before the client gives up its deletion. */
	@ParameterizedTest
	@MethodSource("claims")
	void deletionUnderWayLeavesTheKeyOfAClaimThatStartedOver(Claim claim) throws Exception {
		this.client.useUpQuotaWithNextAttempt();
		this.client.delayNextDeletion();
		CompletionStage<AcquireResult> first = this.backend.tryAcquire(claim);
		Awaitility.await("a deletion under way").until(this.client::holdsBack);
		Grant grant = granted(this.backend, claim);
		assertThat(this.client.carryOut()).isOne();
		assertThat(first).failsWithin(BOUND);
		assertThatHolderExcludesOthers(grant);
	}

	@ParameterizedTest
	@MethodSource("claims")
	void releaseUnderWayLeavesTheKeyOfAClaimThatStartedOver(Claim claim) throws Exception {
		Grant first = granted(this.backend, claim);
		this.client.delayNextDeletion();
		CompletionStage<ReleaseResult> release = this.backend.release(first);
		Awaitility.await("a deletion under way").until(this.client::holdsBack);
		Grant second = granted(this.backend, claim);
		assertThat(this.client.carryOut()).isOne();
		assertThat(release).succeedsWithin(BOUND);
		assertThatHolderExcludesOthers(second);
	}

	private void assertThatHolderExcludesOthers(Grant grant) throws Exception {
		Claim waiting = claim(LOCK);
		assertThat(ask(this.other, waiting)).isInstanceOf(AcquireResult.Contended.class);
		released(this.backend, grant);
		released(this.other, granted(this.other, waiting));
		assertThat(this.backend.queueNodes.remembered()).isEmpty();
	}

}
