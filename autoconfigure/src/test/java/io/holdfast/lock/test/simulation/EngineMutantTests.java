package io.holdfast.lock.test.simulation;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.engine.HandoffMutants;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that the simulation detects a defect when the engine's protection against it is
 * removed.
 */
class EngineMutantTests {

	private static final int SEEDS = 20_000;

	/** A waiter that was paused past its deadline sends another attempt. */
	@Test
	void attemptAfterTheDeadlineIsFound() {
		Mutant mutant = new Mutant().answer("engine.LocalWaitQueues$Ticket#deadlineHasPassed", false);
		assertThat(mutant.find(AtomicStore.class, SEEDS, "attempts")).isPositive();
	}

	/** In addition, a timer of the backend withdraws the grant of that attempt. */
	@Test
	void attemptBesideATimerThatAbandonsTheClaimIsFound() {
		Mutant mutant = new Mutant().answer("engine.LocalWaitQueues$Ticket#deadlineHasPassed", false);
		assertThat(mutant.find(ClaimTimerStore.class, SEEDS, "exclusion")).isPositive();
	}

	/** A late response ends a lease that is kept for its {@code minHold}. */
	@Test
	void withdrawalOfALockWithMinHoldIsFound() {
		Mutant mutant = new Mutant().replace("engine.Lease#keepsLock", "inUse").complete("engine.LeaseEnd#settled");
		assertThat(mutant.find(AtomicStore.class, Workload.MIN_HOLDS, SEEDS, "minHold")).isPositive();
	}

	/** A caller that takes over a lease gets the token of the holder before it. */
	@Test
	void handoffWithTheSameTokenIsFound() {
		Mutant mutant = new Mutant().replace("engine.StoreLease#nextToken", HandoffMutants.class, "sameToken");
		assertThat(mutant.find(AtomicStore.class, Workload.HANDOFFS, SEEDS, "tokens")).isPositive();
	}

	/** A caller takes over a lease that has expired in the meantime. */
	@Test
	void handoffOfALeaseThatIsNotRenewedInTimeIsFound() {
		Mutant mutant = new Mutant().answer("engine.Validity#isFresh", true).likelyAt(84);
		assertThat(mutant.find(AtomicStore.class, Workload.HANDOFFS, SEEDS, "start")).isPositive();
	}

	/** A lease serves more holders than its turn allows. */
	@Test
	void turnWithoutAnEndIsFound() {
		Mutant mutant = new Mutant().answer("engine.HandoffTurn#opensForNext", true).likelyAt(223);
		assertThat(mutant.find(AtomicStore.class, Workload.HANDOFFS, SEEDS, "turns")).isPositive();
	}

	/** A turn follows another one although a claim of another process waits. */
	@Test
	void turnThatFollowsAlthoughAnotherProcessWaitsIsFound() {
		Mutant mutant = new Mutant().answer("engine.HandoffTurn#isUnwanted", true).likelyAt(4_092);
		assertThat(mutant.find(AtomicStore.class, Workload.HANDOFFS, SEEDS, "turns")).isPositive();
	}

	/** The same, where the thread of a caller asks the store. */
	@Test
	void turnThatFollowsAQuestionOnACallersThreadIsFound() {
		Mutant mutant = new Mutant().answer("engine.HandoffTurn#isUnwanted", true).likelyAt(4_092);
		assertThat(mutant.find(BlockingStore.class, Workload.HANDOFFS, SEEDS, "turns")).isPositive();
	}

	/** A demand gives up an idle lease that a hold has just taken. */
	@Test
	void demandThatEndsTheLeaseOfAHoldIsFound() {
		Mutant mutant = new Mutant().replace("engine.LeaseState#endsIdle", HandoffMutants.class, "endsAny");
		assertThat(mutant.find(AtomicStore.class, Workload.STICKY, SEEDS, "exclusion")).isPositive();
	}

	/** A hold takes over an idle lease whose validity is over. */
	@Test
	void takeoverOfAnIdleLeasePastItsValidityIsFound() {
		Mutant mutant = new Mutant().answer("engine.Validity#isFresh", true).likelyAt(120);
		assertThat(mutant.find(AtomicStore.class, Workload.STICKY, SEEDS, "start")).isPositive();
	}

	/** An idle lease stays, although a caller in another process demands it. */
	@Test
	void demandThatIsIgnoredIsFound() {
		Mutant mutant = new Mutant().skip("engine.StickyTime#listen");
		assertThat(mutant.find(AtomicStore.class, Workload.STICKY, SEEDS, "idle")).isPositive();
	}

	/** A caller that does not wait is refused without waiting for the demanded lease. */
	@Test
	void refusalThatDoesNotAwaitTheDemandIsFound() {
		Mutant mutant = new Mutant().answer("engine.LocalWaitQueues$Ticket#outwaitsDemand", false);
		assertThat(mutant.find(AtomicStore.class, Workload.STICKY, SEEDS, "idle")).isPositive();
	}

	/** A holder whose renewal is rejected after a forced release continues. */
	@Test
	void lossThatIsIgnoredIsFound() {
		Mutant mutant = new Mutant().skip("engine.StoreLease#lose");
		assertThat(mutant.find(ForcedReleaseStore.class, Workload.FORCED_RELEASES, SEEDS, "exclusion")).isPositive();
	}

	/** Many acquisitions of other locks delay renewals until it is too late. */
	@Test
	void renewalThatQueuesBehindAcquisitionsIsFound() {
		Mutant mutant = new Mutant().replace("test.simulation.SimulatedProcess#threads", "sharedThreads").likelyAt(16);
		assertThat(mutant.find(BlockingStore.class, SEEDS, "health")).isPositive();
	}

}
