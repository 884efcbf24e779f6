package io.holdfast.lock.engine;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.HoldBoundary;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LockedAction;
import io.holdfast.lock.UnlockedAction;
import io.holdfast.lock.spi.LockObserver;

/**
 * The engine's entry: acquires locks from the stores it is given, keeps them while they
 * are held, and gives them back.
 *
 * <p>
 * Thread-safe. {@link #close()} ends it: nothing is acquired any more, running bodies may
 * end within the shutdown time-out while their leases are still renewed, and what is held
 * after that is declared lost and given back.
 */
public final class LockEngine implements LockOperations, AutoCloseable {

	private final LockBackends backends;

	private final EngineContext context;

	private final Runnable closeThreads;

	/**
	 * Create an engine that runs on the system's clock and threads of its own.
	 * @param backends the stores
	 * @param settings what holds for every lock
	 * @param boundary where the caller's transaction meets a hold
	 * @param observers who are told of what happens
	 */
	public LockEngine(LockBackends backends, EngineSettings settings, HoldBoundary boundary,
			List<? extends LockObserver> observers) {
		this(backends, settings, boundary, SafeObserver.of(observers), new SystemTime(), new Workers());
	}

	private LockEngine(LockBackends backends, EngineSettings settings, HoldBoundary boundary, LockObserver observer,
			SystemTime time, Workers workers) {
		this(backends, settings, boundary, observer, time, workers, () -> {
			time.close();
			workers.close();
		});
	}

	LockEngine(LockBackends backends, EngineSettings settings, HoldBoundary boundary, LockObserver observer,
			EngineTime time, Executor workers, Runnable closeThreads) {
		this.backends = backends;
		this.closeThreads = closeThreads;
		this.context = new EngineContext(settings, time, new LocalQueues(time),
				new Watchdog(time, settings, observer, workers), new Cleanup(time, settings.responseTimeout(), workers),
				new Census(), boundary, observer, workers);
	}

	@Override
	public LockHandle acquire(LockRequest request) {
		return hold(request, Refusal.THROWS);
	}

	@Override
	public Optional<LockHandle> tryAcquire(LockRequest request) {
		try {
			return Optional.of(hold(request, Refusal.SKIPS));
		}
		catch (LockSkippedException ex) {
			return Optional.empty();
		}
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockedAction<T, E> action)
			throws E {
		return run(hold(request, Refusal.THROWS), action);
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T executeOrElse(LockRequest request,
			LockedAction<T, E> action, UnlockedAction<T, E> otherwise) throws E {
		Hold hold;
		try {
			hold = hold(request, Refusal.SKIPS);
		}
		catch (LockSkippedException ex) {
			return otherwise.run(ex);
		}
		return run(hold, action);
	}

	private static <T extends @Nullable Object, E extends Throwable> T run(Hold hold, LockedAction<T, E> action)
			throws E {
		T result;
		try (hold) {
			result = action.run(hold);
			hold.assertHeldAtEnd();
		}
		hold.assertEndedInTime();
		return result;
	}

	/** A hold of the current thread. */
	private Hold hold(LockRequest request, Refusal refusal) {
		Terms terms = Terms.of(request, this.backends, this.context.settings());
		Hold again = reenter(terms);
		if (again != null) {
			return again.bind();
		}
		this.context.boundary().beforeAcquire(terms.lock());
		CallerRuns steps = new CallerRuns();
		Acquisition acquisition = new Acquisition(this.context, terms, refusal, Thread.currentThread(), steps);
		acquisition.begin();
		steps.runUntilDone(acquisition.outcome(), acquisition::cancel);
		return new Hold(this.context, lease(acquisition)).bind();
	}

	private static Lease lease(Acquisition acquisition) {
		try {
			return acquisition.outcome().join();
		}
		catch (CompletionException ex) {
			// the cause was made on this thread or for this caller alone
			throw (ex.getCause() instanceof RuntimeException cause) ? cause : ex;
		}
	}

	private @Nullable Hold reenter(Terms terms) {
		for (LockHandle handle : LockContext.handles()) {
			if (handle instanceof Hold hold && hold.belongsTo(this.context) && isSameLock(hold, terms)) {
				if (terms.mode() == LockMode.EXCLUSIVE && hold.lease().terms().mode() == LockMode.SHARED) {
					throw new LockConfigurationException(
							"Lock '%s' is held SHARED by this thread and cannot become EXCLUSIVE: two readers that both tried would wait for each other for ever. Acquire it EXCLUSIVE in the first place."
								.formatted(terms.lock()));
				}
				Hold again = hold.reenter();
				if (again != null) {
					return again;
				}
			}
		}
		return null;
	}

	private static boolean isSameLock(Hold hold, Terms terms) {
		Terms held = hold.lease().terms();
		return held.lock().equals(terms.lock()) && held.backend() == terms.backend();
	}

	@Override
	public CompletionStage<LockHandle> acquireAsync(LockRequest request) {
		return holdAsync(request, Refusal.THROWS, Objects::requireNonNull);
	}

	@Override
	public CompletionStage<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
		return holdAsync(request, Refusal.SKIPS, Optional::ofNullable);
	}

	@Override
	public <T extends @Nullable Object> CompletionStage<T> executeAsync(LockRequest request,
			Function<LockHandle, CompletionStage<T>> action) {
		return holdAsync(request, Refusal.THROWS, Objects::requireNonNull)
			.thenCompose((hold) -> Answers.ask(() -> action.apply(hold)).thenApply((result) -> {
				hold.assertHeldAtEnd();
				return result;
			}).whenComplete((result, failure) -> hold.close()));
	}

	private <R> CompletableFuture<R> holdAsync(LockRequest request, Refusal refusal,
			Function<@Nullable Hold, R> result) {
		Terms terms = Terms.of(request, this.backends, this.context.settings());
		Acquisition acquisition = new Acquisition(this.context, terms, refusal, null,
				new SerialExecutor(this.context.workers()));
		CompletableFuture<R> held = new CompletableFuture<>();
		acquisition.outcome().whenComplete((lease, failure) -> {
			Hold hold = (lease != null) ? new Hold(this.context, lease) : null;
			if (hold == null && !(failure instanceof LockSkippedException)) {
				held.completeExceptionally(failure);
			}
			else if (!held.complete(result.apply(hold)) && hold != null) {
				hold.close();
			}
		});
		held.whenComplete((value, failure) -> {
			if (held.isCancelled()) {
				acquisition.cancel();
			}
		});
		acquisition.begin();
		return held;
	}

	EngineContext context() {
		return this.context;
	}

	@Override
	public void close() {
		if (!this.context.census().close()) {
			return;
		}
		this.context.census().waiting().forEach(Acquisition::stop);
		this.context.census().awaitNoneInUse(this.context.settings().shutdownTimeout().toNanos());
		this.context.census().held().forEach(Lease::endAtShutdown);
		this.context.cleanup().awaitAnswers();
		this.closeThreads.run();
	}

}
