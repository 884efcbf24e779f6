package io.holdfast.lock.test.contract;

import java.util.ArrayList;
import java.util.List;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

/**
 * Cases that verify that fair claims of several clients are granted in order of arrival.
 */
interface FairCases {

	/** In each round, the waiters retry in reverse order of arrival. */
	@Needs(Ability.FAIR)
	default void fairClaimsAreGrantedInTheOrderOfTheirArrival(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.fair(Claims.exclusive(lock)));
		List<Claim> waiters = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			Claim waiter = Claims.fair(Claims.exclusive(lock));
			bench.assertContended(bench.client(i), waiter);
			waiters.add(waiter);
		}
		bench.assertReleased(bench.first(), holder);
		for (int next = 0; next < waiters.size(); next++) {
			for (int i = waiters.size() - 1; i > next; i--) {
				bench.assertContended(bench.client(i), waiters.get(i));
			}
			bench.assertReleased(bench.client(next), bench.acquireSoon(bench.client(next), waiters.get(next)));
		}
	}

	@Needs(Ability.FAIR)
	default void newcomerDoesNotOvertakeAFairWaiter(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.fair(Claims.exclusive(lock)));
		Claim waiter = Claims.fair(Claims.exclusive(lock));
		bench.assertContended(bench.second(), waiter);
		bench.assertReleased(bench.first(), holder);
		Claim newcomer = Claims.fair(Claims.exclusive(lock));
		bench.assertContended(bench.first(), newcomer);
		bench.assertReleased(bench.second(), bench.acquireSoon(bench.second(), waiter));
		bench.assertReleased(bench.first(), bench.acquireSoon(bench.first(), newcomer));
	}

	@Needs(Ability.FAIR)
	default void abandonedFairWaiterDoesNotBlockTheQueue(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.fair(Claims.exclusive(lock)));
		Claim leaving = Claims.fair(Claims.exclusive(lock));
		bench.assertContended(bench.second(), leaving);
		Claim staying = Claims.fair(Claims.exclusive(lock));
		RetryHint hint = new RetryHint(bench.assertContended(bench.first(), staying));
		bench.assertReleased(bench.first(), holder);
		bench.abandon(bench.second(), leaving);
		hint.awaitSoon(bench);
		bench.assertReleased(bench.first(), bench.acquireSoon(bench.first(), staying));
	}

	@Needs(Ability.FAIR)
	default void vanishedFairWaiterBlocksTheQueueUntilItsWaitTimeEnds(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.acquire(bench.first(), Claims.fair(Claims.exclusive(lock)));
		bench.assertContended(bench.second(),
				Claims.fair(Claims.exclusive(lock)).withRemainingWait(bench.shortLease()));
		bench.assertReleased(bench.first(), holder);
		Grant next = bench.acquireSoon(bench.first(), Claims.fair(Claims.exclusive(lock)));
		bench.assertReleased(bench.first(), next);
	}

}
