package io.holdfast.lock.test.simulation;

/**
 * A {@link BlockingStore} whose leases pass from caller to caller.
 */
public final class BlockingHandoffStore extends BlockingStore {

	/**
	 * Creates an empty store.
	 * @param simulation the simulated run
	 */
	public BlockingHandoffStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	public Workload workload() {
		return Workload.HANDOFFS;
	}

}
