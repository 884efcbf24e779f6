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
		Grant holder = bench.granted(bench.first(), Claims.fair(Claims.exclusive(lock)));
		List<Claim> line = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			Claim waiter = Claims.fair(Claims.exclusive(lock));
			bench.refused(bench.client(i), waiter);
			line.add(waiter);
		}
		bench.released(bench.first(), holder);
		for (int next = 0; next < line.size(); next++) {
			for (int i = line.size() - 1; i > next; i--) {
				bench.refused(bench.client(i), line.get(i));
			}
			bench.released(bench.client(next), bench.soonGranted(bench.client(next), line.get(next)));
		}
	}

	@Needs(Ability.FAIR)
	default void newcomerDoesNotOvertakeAFairWaiter(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.fair(Claims.exclusive(lock)));
		Claim waiter = Claims.fair(Claims.exclusive(lock));
		bench.refused(bench.second(), waiter);
		bench.released(bench.first(), holder);
		Claim newcomer = Claims.fair(Claims.exclusive(lock));
		bench.refused(bench.first(), newcomer);
		bench.released(bench.second(), bench.soonGranted(bench.second(), waiter));
		bench.released(bench.first(), bench.soonGranted(bench.first(), newcomer));
	}

	@Needs(Ability.FAIR)
	default void fairWaiterThatGaveUpDoesNotBlockTheLine(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.fair(Claims.exclusive(lock)));
		Claim leaving = Claims.fair(Claims.exclusive(lock));
		bench.refused(bench.second(), leaving);
		Claim staying = Claims.fair(Claims.exclusive(lock));
		Turn turn = new Turn(bench.refused(bench.first(), staying));
		bench.released(bench.first(), holder);
		bench.abandon(bench.second(), leaving);
		turn.comesSoon(bench);
		bench.released(bench.first(), bench.soonGranted(bench.first(), staying));
	}

	@Needs(Ability.FAIR)
	default void fairWaiterThatVanishedBlocksTheLineNoLongerThanItsPatience(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.fair(Claims.exclusive(lock)));
		bench.refused(bench.second(), Claims.fair(Claims.exclusive(lock)).withRemainingWait(bench.shortLease()));
		bench.released(bench.first(), holder);
		Grant next = bench.soonGranted(bench.first(), Claims.fair(Claims.exclusive(lock)));
		bench.released(bench.first(), next);
	}

}
