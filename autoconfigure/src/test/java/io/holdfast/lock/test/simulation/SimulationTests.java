package io.holdfast.lock.test.simulation;

import org.junit.jupiter.api.Test;

/**
 * Runs the engine with thousands of seeds on models of stores.
 */
class SimulationTests {

	@Test
	void engineKeepsItsPromisesOnAnAtomicStore() {
		Simulations.of("atomic", AtomicStore::new).run(1_000);
	}

}
