package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;

/**
 * Model of the simplest shared store: one server with its own clock that processes each
 * request atomically. Clients use many connections and repeat unanswered requests, so the
 * server may process a request twice, and late.
 */
public class AtomicStore implements SimulatedStore {

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(Duration.ofMillis(100),
			Capability.SHARED, Capability.FAIR, Capability.WAIT_QUEUE, Capability.DEMAND);

	private final SimulatedNode server;

	final LocalLockBackend locks;

	/**
	 * Creates an empty store.
	 * @param simulation the simulated run
	 */
	public AtomicStore(Simulation simulation) {
		this.server = simulation.server("server");
		this.locks = new LocalLockBackend(this.server::nanos);
	}

	@Override
	public LockBackend connect(SimulatedProcess process) {
		return new Client(new SimulatedLink(process, this.server, SimulatedLink.Order.ANY));
	}

	@Override
	public Collection<String> leftovers() {
		return this.locks.inUse().stream().map((lock) -> "lock " + lock).toList();
	}

	@Override
	public List<StoreFault> faults() {
		return List.of(new StoreFault("the server stands still", this.server::pause, this.server::resume));
	}

	private final class Client implements LockBackend {

		private final SimulatedLink link;

		Client(SimulatedLink link) {
			this.link = link;
		}

		@Override
		public String name() {
			return "atomic";
		}

		@Override
		public BackendCapabilities capabilities() {
			return CAPABILITIES;
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			CompletableFuture<Void> signal = new CompletableFuture<>();
			return this.link.send(() -> AtomicStore.this.locks.tryAcquire(claim).thenApply((answer) -> {
				if (answer instanceof AcquireResult.Contended contended) {
					contended.signal().thenRun(() -> this.link.push(() -> signal.complete(null)));
					return new AcquireResult.Contended(signal, contended.retryAfter(), contended.demanded());
				}
				return (answer instanceof AcquireResult.Acquired acquired && acquired.grant().sticky())
						? new AcquireResult.Acquired(notified(acquired.grant())) : answer;
			}));
		}

		/** The server tells the client, in a message of its own, that it is wanted. */
		private Grant notified(Grant grant) {
			CompletableFuture<Void> wanted = new CompletableFuture<>();
			grant.wanted().thenRun(() -> this.link.push(() -> wanted.complete(null)));
			return grant.withDemand(wanted);
		}

		@Override
		public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
			return this.link.send(() -> AtomicStore.this.locks.renew(grants));
		}

		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			return this.link.send(() -> AtomicStore.this.locks.release(grant));
		}

		@Override
		public CompletionStage<LockState> find(LockName lock) {
			return this.link.send(() -> AtomicStore.this.locks.find(lock));
		}

		@Override
		public CompletionStage<Void> abandon(Claim claim) {
			return this.link.send(() -> AtomicStore.this.locks.abandon(claim));
		}

	}

}
