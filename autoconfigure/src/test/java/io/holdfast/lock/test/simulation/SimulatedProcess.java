package io.holdfast.lock.test.simulation;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.SimulatedEngine;
import io.holdfast.lock.spi.BackendCapabilities;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.observation.LockObserver;

/**
 * A simulated JVM with an engine, a backend, and callers.
 */
public final class SimulatedProcess extends SimulatedNode {

	private static final int THREADS = 8;

	private final int number;

	private final LockBackend backend;

	private final List<SimulatedThreads> pools = new ArrayList<>();

	private final SimulatedEngine engine;

	/** The threads of callers, which wait where the backend blocks. */
	private final Executor callers;

	SimulatedProcess(Simulation simulation, int number, SimulatedStore store, EngineSettings settings) {
		super(simulation, "app" + number);
		this.number = number;
		this.backend = new RecordingBackend(this, store.connect(this));
		this.engine = new SimulatedEngine(this.backend, settings, new Handoffs(), this, this::execute, this::threads);
		this.callers = capabilities().has(Capability.BLOCKING) ? newThreads(Integer.MAX_VALUE) : Runnable::run;
	}

	/**
	 * Returns the number that identifies this process.
	 * @return the number, starting at zero
	 */
	public int number() {
		return this.number;
	}

	BackendCapabilities capabilities() {
		return this.backend.capabilities();
	}

	SimulatedEngine engine() {
		return this.engine;
	}

	private Executor threads() {
		return newThreads(THREADS);
	}

	private Executor newThreads(int most) {
		SimulatedThreads pool = new SimulatedThreads(this, most);
		this.pools.add(pool);
		return pool;
	}

	/** Replaces {@link #threads} in a mutant: one pool for all kinds of work. */
	private Executor sharedThreads() {
		return this.pools.isEmpty() ? newThreads(THREADS) : this.pools.get(0);
	}

	/**
	 * Blocks the calling simulated thread until a response arrives in this process.
	 * @param response the response, which fails if it takes too long
	 * @param timeoutNanos how long it may take
	 */
	public void await(CompletableFuture<?> response, long timeoutNanos) {
		Runnable cancel = after(timeoutNanos,
				() -> response.completeExceptionally(new TimeoutException("no response from the server")));
		Coroutine.await(response);
		cancel.run();
	}

	/** Ends the simulated threads at the end of the run. */
	void close() {
		this.pools.forEach(SimulatedThreads::close);
	}

	/** Starts an operation, which ends on its own. */
	void start(Operation operation) {
		simulation().history().add(simulation(), name(), operation.subject(), () -> "calls " + operation);
		Attempt attempt = new Attempt(operation);
		simulation().checks().started(attempt.call);
		CompletableFuture<?> result = attempt.send(this.engine.operations()).toCompletableFuture();
		if (operation.cancelAfter() != null) {
			after(operation.cancelAfter().toNanos(), () -> attempt.cancel(result));
		}
	}

	/** Tells the checks who has taken over a lease, and whether it is valid. */
	private final class Handoffs implements LockObserver {

		@Override
		public void handedOff(LockName lock, String backend) {
			simulation().checks()
				.handedOff(SimulatedProcess.this, lock, SimulatedProcess.this.engine.hasValidLease(lock));
		}

	}

	/** An operation in progress. */
	private final class Attempt {

		private final Operation operation;

		private final Call call;

		private boolean cancelled;

		Attempt(Operation operation) {
			this.operation = operation;
			this.call = new Call(SimulatedProcess.this, operation);
		}

		/** Sends the request and returns the stage that the caller can cancel. */
		CompletionStage<?> send(LockOperations operations) {
			LockRequest request = this.operation.request();
			return switch (this.operation.style()) {
				case ACQUIRE -> observed(operations.acquireAsync(request), Function.identity());
				case TRY -> observed(operations.tryAcquireAsync(request), (handle) -> handle.orElse(null));
				case EXECUTE -> observed(operations.executeAsync(request, this::body), (done) -> null);
			};
		}

		private <T> CompletionStage<T> observed(CompletionStage<T> result, Function<T, @Nullable LockHandle> handle) {
			result.whenComplete((value, failure) -> settled((value != null) ? handle.apply(value) : null, failure));
			return result;
		}

		private void settled(@Nullable LockHandle handle, @Nullable Throwable failure) {
			if (handle != null) {
				acquired(handle);
			}
			boolean expected = failure == null || this.cancelled || isRefusal(cause(failure));
			checks().settled(this.call, failure, expected);
		}

		private void acquired(LockHandle handle) {
			checks().acquired(this.call, handle);
			closeLater(() -> SimulatedProcess.this.engine.close(handle));
		}

		private CompletionStage<@Nullable Void> body(LockHandle handle) {
			checks().acquired(this.call, handle);
			CompletableFuture<@Nullable Void> done = new CompletableFuture<>();
			closeLater(() -> done.complete(null));
			return done;
		}

		private void closeLater(Runnable close) {
			after(this.operation.holdFor().toNanos(), () -> SimulatedProcess.this.callers.execute(() -> {
				checks().closing(this.call);
				close.run();
			}));
		}

		void cancel(CompletableFuture<?> result) {
			if (!result.isDone() && !this.call.acquired()) {
				this.cancelled = true;
				simulation().history()
					.add(simulation(), name(), this.operation.subject(), () -> "cancels #" + this.operation.number());
				if (this.operation.number() % 2 == 0) {
					result.cancel(false);
				}
				else {
					// as a timeout of the caller would do
					result.complete(null);
				}
			}
		}

		private Checks checks() {
			return simulation().checks();
		}

	}

	private static Throwable cause(Throwable failure) {
		return (failure.getCause() != null) ? failure.getCause() : failure;
	}

	private static boolean isRefusal(Throwable failure) {
		return failure instanceof LockNotAcquiredException || failure instanceof LockLostException;
	}

}
