package io.holdfast.lock.test.simulation;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

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
 * Model of a store whose client blocks the calling thread, as a database does. The server
 * takes some time for each request, and the client never repeats a request.
 */
public final class BlockingStore implements SimulatedStore {

	private static final BackendCapabilities CAPABILITIES = new BackendCapabilities(Duration.ofMillis(500),
			Capability.SHARED, Capability.WAIT_QUEUE, Capability.BLOCKING);

	private static final Duration POLL = Duration.ofMillis(100);

	private static final long TIMEOUT = Duration.ofSeconds(3).toNanos();

	private static final int MOST_WORK = 20_000_000;

	private final SimulatedNode server;

	private final LocalLockBackend locks;

	/**
	 * Creates an empty store.
	 * @param simulation the simulated run
	 */
	public BlockingStore(Simulation simulation) {
		this.server = simulation.server("database");
		this.locks = new LocalLockBackend(this.server::nanos);
	}

	@Override
	public LockBackend connect(SimulatedProcess process) {
		return new Client(process, new SimulatedLink(process, this.server, SimulatedLink.Order.ANY));
	}

	@Override
	public Collection<String> leftovers() {
		return this.locks.inUse().stream().map((lock) -> "lock " + lock).toList();
	}

	@Override
	public List<StoreFault> faults() {
		return List.of(new StoreFault("the database stands still", this.server::pause, this.server::resume));
	}

	private final class Client implements LockBackend {

		private final SimulatedProcess process;

		private final SimulatedLink link;

		Client(SimulatedProcess process, SimulatedLink link) {
			this.process = process;
			this.link = link;
		}

		@Override
		public String name() {
			return "blocking";
		}

		@Override
		public BackendCapabilities capabilities() {
			return CAPABILITIES;
		}

		@Override
		public boolean releasesOnCaller() {
			return Coroutine.isCurrent();
		}

		@Override
		public boolean findsOnCaller() {
			return releasesOnCaller();
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			return blocking(() -> BlockingStore.this.locks.tryAcquire(claim))
				.thenApply((answer) -> (answer instanceof AcquireResult.Contended)
						? new AcquireResult.Contended(new CompletableFuture<>(), POLL) : answer)
				.exceptionally(AcquireResult.Indeterminate::new);
		}

		@Override
		public CompletionStage<List<RenewResult>> renew(List<Grant> grants) {
			return blocking(() -> BlockingStore.this.locks.renew(grants)).exceptionally((failure) -> grants.stream()
				.<RenewResult>map((grant) -> new RenewResult.Indeterminate(failure))
				.toList());
		}

		@Override
		public CompletionStage<ReleaseResult> release(Grant grant) {
			return blocking(() -> BlockingStore.this.locks.release(grant))
				.exceptionally(ReleaseResult.Indeterminate::new);
		}

		@Override
		public CompletionStage<LockState> find(LockName lock) {
			return blocking(() -> BlockingStore.this.locks.find(lock));
		}

		@Override
		public CompletionStage<Void> abandon(Claim claim) {
			return blocking(() -> BlockingStore.this.locks.abandon(claim));
		}

		/** Blocks until the server has responded or the request has timed out. */
		private <T> CompletionStage<T> blocking(Supplier<CompletionStage<T>> request) {
			CompletableFuture<T> answer = this.link.send(() -> working().thenCompose((done) -> request.get()));
			this.process.await(answer, TIMEOUT);
			return answer;
		}

		private CompletableFuture<Boolean> working() {
			CompletableFuture<Boolean> done = new CompletableFuture<>();
			BlockingStore.this.server.after(this.process.jitter(MOST_WORK), () -> done.complete(true));
			return done;
		}

	}

}
