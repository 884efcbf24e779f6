package io.holdfast.lock.test.simulation;

/**
 * An {@link AtomicStore} whose leases pass from caller to caller.
 */
public final class HandoffStore extends AtomicStore {

	/**
	 * Creates an empty store.
	 * @param simulation the simulated run
	 */
	public HandoffStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	public Workload workload() {
		return Workload.HANDOFFS;
	}

}
