package io.holdfast.lock.test.simulation;

/**
 * An {@link AtomicStore} whose locks stay closed after their holds.
 */
public final class MinHoldStore extends AtomicStore {

	/**
	 * Creates an empty store.
	 * @param simulation the simulated run
	 */
	public MinHoldStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	public Workload workload() {
		return Workload.MIN_HOLDS;
	}

}
