package io.holdfast.lock.backend.etcd;

import io.holdfast.lock.test.simulation.Simulation;
import io.holdfast.lock.test.simulation.Workload;

/**
 * An {@link EtcdStore} whose leases stay in a process while no hold uses them.
 */
public final class StickyEtcdStore extends EtcdStore {

	/**
	 * Creates an empty etcd.
	 * @param simulation the simulation
	 */
	public StickyEtcdStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	public Workload workload() {
		return Workload.STICKY;
	}

}
