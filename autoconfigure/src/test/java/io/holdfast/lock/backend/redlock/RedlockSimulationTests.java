package io.holdfast.lock.backend.redlock;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.test.simulation.Mutant;
import io.holdfast.lock.test.simulation.SimulatedLink;
import io.holdfast.lock.test.simulation.Simulations;
import io.holdfast.lock.test.simulation.Workload;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs the engine and the Redlock backend on models of its nodes, with many seeds.
 */
class RedlockSimulationTests {

	private static final int SEEDS = 2_000;

	@Test
	void redlockKeepsItsPromises() {
		Simulations.of("redlock", RedlockStore::new).run(100);
	}

	@Test
	void redlockKeepsItsPromisesWhenGrantsAreLate() {
		Simulations.of("redlock-late-grants", LateGrantsStore::new, Workload.SHORT_HOLDS).run(100);
	}

	@Test
	void redlockKeepsItsPromisesWhileLeasesStayWithoutHolds() {
		Simulations.of("sticky redlock", RedlockStore::new, Workload.STICKY).run(100);
	}

	@Test
	void redlockKeepsItsPromisesOverConnectionsThatKeepTheOrder() {
		Simulations.of("ordered redlock", (simulation) -> new RedlockStore(simulation, SimulatedLink.Order.IN_ORDER))
			.run(100);
	}

	/** The mutant drops the demands of other processes. */
	@Test
	void demandThatIsDroppedIsFound() {
		Mutant mutant = new Mutant().skip("backend.redis.LeaseDemands#demand");
		assertThat(mutant.find(RedlockStore.class, Workload.STICKY, SEEDS, "idle")).isPositive();
	}

	/** The mutant counts a token that only a minority has given to a waiter. */
	@Test
	void keptLockWithTheTokenOfAMinorityIsFound() {
		Mutant mutant = new Mutant().answer("backend.redlock.WaitingClaim#isMajority", true).likelyAt(233);
		assertThat(mutant.find(RedlockStore.class, SEEDS, "tokens")).isPositive();
	}

	/** The mutant counts each address, although two of them lead to one node. */
	@Test
	void nodeThatVotesTwiceIsFound() {
		Mutant mutant = new Mutant()
			.replace("backend.redlock.Votes#unlessSecond", RedlockSimulationTests.class, "second")
			.likelyAt(1_744);
		assertThat(mutant.find(RedlockStore.class, SEEDS, "exclusion")).isPositive();
	}

	static NodeResponse second(Votes votes, NodeResponse answer) {
		return answer;
	}

	/** The mutant keeps the signal of a sticky lease that has ended. */
	@Test
	void demandThatIsNotForgottenIsFound() {
		Mutant mutant = new Mutant().replace("backend.redlock.ReleaseNotifications#forgetAll", "forget");
		assertThat(mutant.find(RedlockStore.class, Workload.STICKY, SEEDS, "leftovers")).isPositive();
	}

	/**
	 * The mutant uses a token again after its lease has expired, below the token of
	 * another owner.
	 */
	@Test
	void tokenThatIsRememberedBeyondItsLeaseIsFound() {
		Mutant mutant = new Mutant().answer("backend.redlock.NotifiedTokens#isValid", true);
		assertThat(mutant.find(LateGrantsStore.class, Workload.SHORT_HOLDS, SEEDS, "tokens")).isPositive();
	}

}
