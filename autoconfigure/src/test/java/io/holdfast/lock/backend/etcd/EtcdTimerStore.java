package io.holdfast.lock.backend.etcd;

import io.holdfast.lock.test.simulation.ClaimTimerStore;
import io.holdfast.lock.test.simulation.Simulation;

/**
 * The etcd backend with a timer that ends refused claims.
 */
public final class EtcdTimerStore extends ClaimTimerStore {

	/**
	 * Creates an empty store.
	 * @param simulation the simulation
	 */
	public EtcdTimerStore(Simulation simulation) {
		super(new EtcdStore(simulation));
	}

}
