package io.holdfast.lock.backend.etcd;

import io.holdfast.lock.test.simulation.Simulation;
import io.holdfast.lock.test.simulation.Workload;

/**
 * An etcd whose clients wait much longer than their leases last.
 */
public final class ShortLeasesStore extends EtcdStore {

	/**
	 * Creates an empty etcd.
	 * @param simulation the simulation
	 */
	public ShortLeasesStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	public Workload workload() {
		return Workload.SHORT_LEASES;
	}

}
