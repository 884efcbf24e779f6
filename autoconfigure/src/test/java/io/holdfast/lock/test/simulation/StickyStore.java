package io.holdfast.lock.test.simulation;

/**
 * An {@link AtomicStore} whose leases stay in a process while no hold uses them.
 */
public final class StickyStore extends AtomicStore {

	/**
	 * Creates an empty store.
	 * @param simulation the simulated run
	 */
	public StickyStore(Simulation simulation) {
		super(simulation);
	}

	@Override
	public Workload workload() {
		return Workload.STICKY;
	}

}
