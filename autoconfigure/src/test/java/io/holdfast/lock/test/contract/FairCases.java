package io.holdfast.lock.test.contract;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * First come, first served, across clients.
 */
interface FairCases {

	@Needs(Ability.FAIR)
	default void fairClaimsAreGrantedInTheOrderOfTheirArrival(Bench bench) throws Exception {
		LockName lock = Claims.newLock();
		Grant holder = bench.granted(bench.first(), Claims.fair(Claims.exclusive(lock)));
		List<Integer> served = new CopyOnWriteArrayList<>();
		List<Callable<Integer>> waiters = new ArrayList<>();
		for (int i = 0; i < 5; i++) {
			int place = i;
			Claim waiter = Claims.fair(Claims.exclusive(lock));
			bench.refused(bench.client(place), waiter);
			waiters.add(() -> {
				Grant grant = bench.soonGranted(bench.client(place), waiter);
				served.add(place);
				bench.released(bench.client(place), grant);
				return place;
			});
		}
		bench.released(bench.first(), holder);
		bench.together(waiters);
		assertThat(served).containsExactly(0, 1, 2, 3, 4);
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
		bench.refused(bench.second(), Claims.fair(Claims.exclusive(lock)).withPatience(bench.shortLease()));
		bench.released(bench.first(), holder);
		Grant next = bench.soonGranted(bench.first(), Claims.fair(Claims.exclusive(lock)));
		bench.released(bench.first(), next);
	}

}
