package io.holdfast.lock.test.simulation;

import java.util.Collection;

import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.spi.LockBackend;

/**
 * The real local store, which responds immediately and loses no message. Here, several
 * engines share it, so they contend.
 */
public final class LocalStore implements SimulatedStore {

	private final LocalLockBackend locks;

	/**
	 * Creates an empty store.
	 * @param simulation the simulated run
	 */
	public LocalStore(Simulation simulation) {
		SimulatedNode clock = simulation.server("clock");
		this.locks = new LocalLockBackend(clock::nanos);
	}

	@Override
	public LockBackend connect(SimulatedProcess process) {
		return this.locks;
	}

	@Override
	public Collection<String> leftovers() {
		return this.locks.inUse().stream().map((lock) -> "lock " + lock).toList();
	}

}
