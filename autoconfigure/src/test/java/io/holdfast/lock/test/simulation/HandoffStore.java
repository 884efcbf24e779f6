package io.holdfast.lock.test.simulation;

import java.util.Collection;
import java.util.List;

import io.holdfast.lock.spi.LockBackend;

/**
 * An {@link AtomicStore} whose leases pass from caller to caller.
 */
public final class HandoffStore implements SimulatedStore {

	private final AtomicStore store;

	/**
	 * Creates an empty store.
	 * @param simulation the simulated run
	 */
	public HandoffStore(Simulation simulation) {
		this.store = new AtomicStore(simulation);
	}

	@Override
	public LockBackend connect(SimulatedProcess process) {
		return this.store.connect(process);
	}

	@Override
	public Collection<String> leftovers() {
		return this.store.leftovers();
	}

	@Override
	public List<StoreFault> faults() {
		return this.store.faults();
	}

	@Override
	public Workload workload() {
		return Workload.HANDOFFS;
	}

}
