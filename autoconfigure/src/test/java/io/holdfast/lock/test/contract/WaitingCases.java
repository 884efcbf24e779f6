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
	default void releaseLetsAWaiterInSoon(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.exclusive(lock));
		Claim waiter = Claims.patient(Claims.exclusive(lock));
		Turn turn = new Turn(bench.refused(bench.second(), waiter));
		bench.released(bench.first(), holder);
		turn.comesSoon(bench);
		bench.released(bench.second(), bench.soonGranted(bench.second(), waiter));
	}

	@Needs(Ability.SIGNAL)
	default void releaseCompletesTheSignal(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.exclusive(lock));
		Claim waiter = Claims.patient(Claims.exclusive(lock));
		Contended refusal = bench.refused(bench.second(), waiter);
		bench.released(bench.first(), holder);
		completes(bench, refusal);
		bench.released(bench.second(), bench.soonGranted(bench.second(), waiter));
	}

	@Needs(Ability.SIGNAL)
	default void abandonedGrantCompletesTheSignal(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Claim unheard = Claims.exclusive(lock);
		bench.granted(bench.first(), unheard);
		Claim waiter = Claims.patient(Claims.exclusive(lock));
		Contended refusal = bench.refused(bench.second(), waiter);
		bench.abandon(bench.first(), unheard);
		completes(bench, refusal);
		bench.released(bench.second(), bench.soonGranted(bench.second(), waiter));
	}

	@Needs(Ability.SIGNAL)
	default void everyAttemptOfAWaiterIsToldOfTheRelease(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.exclusive(lock));
		Claim waiter = Claims.patient(Claims.exclusive(lock));
		bench.refused(bench.second(), waiter);
		Contended latest = bench.refused(bench.second(), waiter);
		bench.released(bench.first(), holder);
		completes(bench, latest);
		bench.released(bench.second(), bench.soonGranted(bench.second(), waiter));
	}

	private static void completes(Bench bench, Contended refusal) {
		CompletableFuture<?> signal = refusal.signal().toCompletableFuture();
		Awaitility.await("the signal").atMost(bench.bound()).until(signal::isDone);
	}

}
