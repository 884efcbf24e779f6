package io.holdfast.lock.backend.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.awaitSignal;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.isWanted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the response to an attempt that arrives when the claim has made others.
 */
class EtcdLateAnswerTests extends LateEtcdBackend {

	/**
	 * etcd has reported that the lease of the first attempt does not exist, although it
	 * does, and nobody renews it any more. The second attempt never reaches etcd.
	 */
	@Slow
	@Test
	void keyOnAFormerLeaseIsAttachedBeforeTheGrant() throws Exception {
		Claim claim = new Claim(LOCK, OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(12), true,
				Duration.ofMinutes(1), true);
		CompletableFuture<AcquireResult> late = attemptWithADelayedAnswer(claim, 1);
		long former = key().getLease();
		this.client.missNextLease();
		Awaitility.await()
			.atMost(BOUND)
			.until(() -> !answer(this.backend.status()).details().toString().contains(Long.toHexString(former)));
		this.client.holdBackNextAttachment();
		assertThat(ask(this.backend, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
		this.client.carryOutNext();
		answer(late);
		Grant grant = granted(this.backend, claim);
		assertThat(key().getLease()).isNotEqualTo(former);
		released(this.backend, grant);
		assertThat(keys("locks/")).isEmpty();
		// also the one that the backend believes to have ended
		endSessions();
	}

	/** An operator has deleted the key of the first attempt meanwhile. */
	@Test
	void waiterIsNotifiedDespiteALateGrantOfAFormerKey() throws Exception {
		Claim claim = claim(LOCK);
		CompletableFuture<AcquireResult> late = attemptWithADelayedAnswer(claim, 1);
		deleteKey();
		Grant holder = granted(this.other, claim(LOCK));
		CompletableFuture<AcquireResult> present = attemptWithADelayedAnswer(claim, 2);
		this.client.carryOutNext();
		answer(late);
		this.client.carryOutNext();
		CompletionStage<?> signal = ((AcquireResult.Contended) answer(present)).signal();
		released(this.other, holder);
		awaitSignal(signal);
		released(this.backend, granted(this.backend, claim));
	}

	/**
	 * An operator has deleted the key of the first attempt. The watch for demands that
	 * its late grant starts reports that when the second attempt holds the lock.
	 */
	@Test
	void endOfAFormerKeyDoesNotEndTheHold() throws Exception {
		Claim claim = new Claim(LOCK, OwnerId.random(), LockMode.EXCLUSIVE, Duration.ofSeconds(30), true,
				Duration.ofMinutes(1), false, true);
		this.client.holdBackQueueWatches();
		CompletableFuture<AcquireResult> late = attemptWithADelayedAnswer(claim, 1);
		deleteKey();
		CompletableFuture<AcquireResult> present = attemptWithADelayedAnswer(claim, 1);
		this.client.carryOutNext();
		answer(late);
		this.client.carryOutNext();
		Grant grant = ((AcquireResult.Acquired) answer(present)).grant();
		assertThat(this.client.queueWatches()).hasSize(1);
		this.client.carryOut();
		renewed(this.backend, grant);
		assertThat(isWanted(grant)).isFalse();
		refused(this.other, claim(LOCK).withRemainingWait(Duration.ZERO));
		awaitSignal(grant.wanted());
		released(this.backend, grant);
	}

	private CompletableFuture<AcquireResult> attemptWithADelayedAnswer(Claim claim, int keys) {
		this.client.delayNextAnswerToAnAttempt();
		CompletableFuture<AcquireResult> attempt = this.backend.tryAcquire(claim).toCompletableFuture();
		Awaitility.await().atMost(BOUND).until(() -> keys("locks/").size() == keys);
		return attempt;
	}

}
