package io.holdfast.lock.backend.etcd;

import java.util.ArrayList;
import java.util.List;

import io.holdfast.lock.test.simulation.Simulation;

/**
 * An etcd whose operator revokes leases in use. No lock survives that: two holders can
 * exist until the first is notified, so a run checks only the leftovers.
 */
public final class EtcdRevokedStore extends EtcdStore {

	/**
	 * Creates an empty etcd.
	 * @param simulation the simulation
	 */
	public EtcdRevokedStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	public List<StoreFault> faults() {
		List<StoreFault> faults = new ArrayList<>(super.faults());
		faults.add(new StoreFault("an operator revokes all leases", this::revokeAll, () -> {
		}));
		return faults;
	}

}
