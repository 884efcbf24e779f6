package io.holdfast.lock.backend.redlock;

import io.holdfast.lock.test.simulation.Simulation;
import io.holdfast.lock.test.simulation.Workload;

/**
 * A {@link RedlockStore} whose leases stay in a process while no hold uses them.
 */
public final class StickyRedlockStore extends RedlockStore {

	/**
	 * Creates nodes that vote.
	 * @param simulation the simulation
	 */
	public StickyRedlockStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	public Workload workload() {
		return Workload.STICKY;
	}

}
