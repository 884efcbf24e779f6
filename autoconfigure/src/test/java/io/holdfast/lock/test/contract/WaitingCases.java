package io.holdfast.lock.test.contract;

import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

/**
 * Cases that verify that a waiter is notified when it should retry.
 */
interface WaitingCases {

	@Test
	default void releaseGrantsTheLockToAWaiterSoon(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		Claim waiter = Claims.waiting(Claims.exclusive(lock));
		RetryHint hint = new RetryHint(bench.assertContended(bench.second(), waiter));
		bench.assertReleased(bench.first(), holder);
		hint.awaitSoon(bench);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), waiter));
	}

	@Needs(Ability.SIGNAL)
	default void releaseCompletesTheSignal(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		Claim waiter = Claims.waiting(Claims.exclusive(lock));
		Contended refusal = bench.assertContended(bench.second(), waiter);
		bench.assertReleased(bench.first(), holder);
		completes(bench, refusal);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), waiter));
	}

	@Needs(Ability.SIGNAL)
	default void abandonedGrantCompletesTheSignal(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim unanswered = Claims.exclusive(lock);
		bench.acquire(bench.first(), unanswered);
		Claim waiter = Claims.waiting(Claims.exclusive(lock));
		Contended refusal = bench.assertContended(bench.second(), waiter);
		bench.abandon(bench.first(), unanswered);
		completes(bench, refusal);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), waiter));
	}

	@Needs(Ability.SIGNAL)
	default void everyAttemptOfAWaiterIsNotifiedOfTheRelease(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.exclusive(lock));
		Claim waiter = Claims.waiting(Claims.exclusive(lock));
		bench.assertContended(bench.second(), waiter);
		Contended latest = bench.assertContended(bench.second(), waiter);
		bench.assertReleased(bench.first(), holder);
		completes(bench, latest);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), waiter));
	}

	private static void completes(Bench bench, Contended refusal) {
		CompletableFuture<?> signal = refusal.signal().toCompletableFuture();
		Awaitility.await("the signal").atMost(bench.bound()).until(signal::isDone);
	}

}
