package io.holdfast.lock.test.simulation;

import java.util.List;

import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;

/**
 * An {@link AtomicStore} whose locks an operator releases by force.
 */
public final class ForcedReleaseStore extends AtomicStore {

	private final Simulation simulation;

	/**
	 * Creates an empty store.
	 * @param simulation the simulated run
	 */
	public ForcedReleaseStore(Simulation simulation) {
		super(simulation);
		this.simulation = simulation;
	}

	@Override
	public List<StoreFault> faults() {
		return List.of(new StoreFault("forced release of all locks", this::releaseAll, () -> {
		}));
	}

	private void releaseAll() {
		for (LockName lock : this.locks.inUse()) {
			for (LockState.Holder holder : this.locks.find(lock).toCompletableFuture().join().holders()) {
				this.simulation.checks().revoked(holder.ownerId());
				this.locks.revoke(lock, holder);
			}
		}
	}

}
