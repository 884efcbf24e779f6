package io.holdfast.lock.backend.redlock;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.test.simulation.Simulations;

/**
 * Runs the engine and Redlock's backend with many seeds on models of its nodes.
 */
class RedlockSimulationTests {

	@Test
	void redlockKeepsItsPromises() {
		Simulations.of("redlock", RedlockStore::new).run(300);
	}

}
