package io.holdfast.lock.backend.zookeeper;

import io.holdfast.lock.test.simulation.PatienceTimerStore;
import io.holdfast.lock.test.simulation.Simulation;
import io.holdfast.lock.test.simulation.Workload;

/**
 * The real backend of ZooKeeper with a timer that ends refused claims.
 */
public final class ZooKeeperTimerStore extends PatienceTimerStore {

	/**
	 * Creates an empty store.
	 * @param simulation the run
	 */
	public ZooKeeperTimerStore(Simulation simulation) {
		super(new SimulatedZooKeeper(simulation));
	}

	@Override
	public Workload workload() {
		return Workload.PAUSED_WAITERS;
	}

}
