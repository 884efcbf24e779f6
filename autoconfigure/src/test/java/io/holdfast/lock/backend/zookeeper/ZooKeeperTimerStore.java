package io.holdfast.lock.backend.zookeeper;

import io.holdfast.lock.test.simulation.ClaimTimerStore;
import io.holdfast.lock.test.simulation.Simulation;

/**
 * The ZooKeeper backend with a timer that ends refused claims.
 */
public final class ZooKeeperTimerStore extends ClaimTimerStore {

	/**
	 * Creates an empty store.
	 * @param simulation the simulation
	 */
	public ZooKeeperTimerStore(Simulation simulation) {
		super(new SimulatedZooKeeper(simulation));
	}

}
