package io.holdfast.lock.backend.zookeeper;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.test.simulation.Simulations;

/**
 * Runs the engine with the real backend and many seeds on a model of an ensemble.
 */
class ZooKeeperSimulationTests {

	@Test
	void engineKeepsItsPromisesOnAModelOfAnEnsemble() {
		Simulations.of("zookeeper", SimulatedZooKeeper::new).run(300);
	}

}
