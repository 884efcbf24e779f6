package io.holdfast.lock.backend.redlock;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.ForwardingBackend;
import io.holdfast.lock.test.simulation.SimulatedNetwork.Kind;
import io.holdfast.lock.test.simulation.SimulatedNetwork.NetworkFault;
import io.holdfast.lock.test.simulation.SimulatedProcess;
import io.holdfast.lock.test.simulation.SimulatedStore;
import io.holdfast.lock.test.simulation.Simulation;

/**
 * A {@link RedlockStore} whose grants often reach the engine after their lease has
 * expired, because the process pauses meanwhile. Its nodes often receive a request twice.
 * Owners therefore request expired grants again, after others have held the lock for a
 * moment. They find parts of these grants that lasted longer or arrived later.
 */
public final class LateGrantsStore implements SimulatedStore {

	private static final long LATEST_REPETITION = TimeUnit.SECONDS.toNanos(2);

	private final SimulatedStore store;

	/**
	 * Creates nodes that vote.
	 * @param simulation the simulation
	 */
	public LateGrantsStore(Simulation simulation) {
		this.store = new RedlockStore(simulation);
	}

	@Override
	public LockBackend connect(SimulatedProcess process) {
		process.simulation().network().begin(new NetworkFault(Kind.REPETITION, process, 1, LATEST_REPETITION));
		return new LateBackend(process, this.store.connect(process));
	}

	@Override
	public Collection<String> leftovers() {
		return this.store.leftovers();
	}

	@Override
	public List<StoreFault> faults() {
		return this.store.faults();
	}

	private static final class LateBackend extends ForwardingBackend {

		private final SimulatedProcess process;

		LateBackend(SimulatedProcess process, LockBackend backend) {
			super(backend);
			this.process = process;
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return super.tryAcquire(claim).thenCompose((answer) -> {
				CompletableFuture<AcquireResult> arrival = new CompletableFuture<>();
				this.process.execute(() -> arrival.complete(answer));
				if (answer instanceof AcquireResult.Acquired && this.process.jitter(2) == 0) {
					this.process.pauseFor(this.process.jitter(3 * claim.leaseTime().toNanos()));
				}
				return arrival;
			});
		}

	}

}
