package io.holdfast.lock.backend.zookeeper;

import io.holdfast.lock.test.simulation.Simulation;

/**
 * An ensemble whose leases stay in a process while no hold uses them.
 */
public final class StickyZooKeeperStore extends SimulatedZooKeeper {

	/**
	 * Creates an empty ensemble.
	 * @param simulation the simulation
	 */
	public StickyZooKeeperStore(Simulation simulation) {
		super(simulation);
	}

	/** All holds are renewed, so what is proven at the start is enough for them. */
	@Override
	void started(SimulatedZooKeeperClient client) {
	}

}
