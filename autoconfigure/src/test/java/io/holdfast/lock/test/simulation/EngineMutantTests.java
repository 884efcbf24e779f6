package io.holdfast.lock.test.simulation;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Takes back what the engine does against a defect, and shows that the simulation finds
 * it.
 */
class EngineMutantTests {

	private static final int SEEDS = 20_000;

	/** A waiter that was paused beyond its deadline asks once more. */
	@Test
	void attemptAfterTheDeadlineIsFound() {
		Mutant mutant = new Mutant().answer("engine.Acquisition#deadlineHasPassed", false);
		assertThat(mutant.find(AtomicStore.class, SEEDS, "attempts")).isPositive();
	}

	/** And a timer of the backend deletes what that attempt was granted. */
	@Test
	void attemptBesideATimerThatEndsTheClaimIsFound() {
		Mutant mutant = new Mutant().answer("engine.Acquisition#deadlineHasPassed", false);
		assertThat(mutant.find(PatienceTimerStore.class, SEEDS, "exclusion")).isPositive();
	}

	/** An answer that comes late ends a lease that lingers for its minHold. */
	@Test
	void withdrawalOfALockThatLingersIsFound() {
		Mutant mutant = new Mutant().replace("engine.Lease#keepsLock", "inUse");
		assertThat(mutant.find(AtomicStore.class, SEEDS, "minHold")).isPositive();
	}

	/** Many acquisitions of other locks let renewals come too late. */
	@Test
	void renewalThatQueuesBehindAcquisitionsIsFound() {
		Mutant mutant = new Mutant().replace("test.simulation.SimulatedProcess#threads", "sharedThreads");
		assertThat(mutant.find(BlockingStore.class, SEEDS, "health")).isPositive();
	}

}
