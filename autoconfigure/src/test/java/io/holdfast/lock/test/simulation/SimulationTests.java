package io.holdfast.lock.test.simulation;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/**
 * Runs the engine on simulated stores, with hundreds to thousands of seeds each.
 */
class SimulationTests {

	@Test
	void engineKeepsItsGuaranteesOnAnAtomicStore() {
		Simulations.of("atomic", AtomicStore::new).run(1_500);
	}

	@Test
	void engineKeepsItsGuaranteesWhileLeasesPassFromCallerToCaller() {
		Simulations.of("handoff", AtomicStore::new, Workload.HANDOFFS).run(500);
	}

	@Test
	void engineKeepsItsGuaranteesWhileLocksStayClosedAfterTheirHolds() {
		Simulations.of("minHold", AtomicStore::new, Workload.MIN_HOLDS).run(200);
	}

	@Test
	void engineKeepsItsGuaranteesWhileLeasesStayWithoutHolds() {
		Simulations.of("sticky", AtomicStore::new, Workload.STICKY).run(500);
	}

	@Test
	void engineKeepsItsGuaranteesWhileLocksAreReleasedByForce() {
		Simulations.of("forced-release", ForcedReleaseStore::new, Workload.FORCED_RELEASES).run(500);
	}

	@Test
	void engineKeepsItsGuaranteesOnTheLocalStore() {
		Simulations.of("local", LocalStore::new).run(250);
	}

	@Test
	void engineKeepsItsGuaranteesOnABlockingStore() {
		Simulations.of("blocking", BlockingStore::new).run(100);
	}

	@Test
	@DisplayName("The engine keeps its guarantees while leases of a blocking store pass from caller to caller")
	void engineKeepsItsGuaranteesWithHandoffsOfABlockingStore() {
		Simulations.of("blocking-handoff", BlockingStore::new, Workload.HANDOFFS).run(250);
	}

}
