package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.HoldBoundary;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LockedAction;
import io.holdfast.lock.UnlockedAction;
import io.holdfast.lock.spi.LockObserver;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.SystemSchedulingClock;

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

	private final BlockingEntrance blocking;

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
		this(backends, settings, boundary, withLog(observers), new SystemSchedulingClock("holdfast-timer"),
				new Workers());
	}

	private LockEngine(LockBackends backends, EngineSettings settings, HoldBoundary boundary, LockObserver observer,
			SystemSchedulingClock time, Workers workers) {
		this(backends, settings, boundary, observer, time, workers, () -> {
			time.close();
			workers.close();
		});
	}

	LockEngine(LockBackends backends, EngineSettings settings, HoldBoundary boundary, LockObserver observer,
			SchedulingClock time, Executor workers, Runnable closeThreads) {
		this.backends = backends;
		this.closeThreads = closeThreads;
		this.context = new EngineContext(settings, time, new LocalQueues(time),
				new Watchdog(time, settings, observer, workers), new Cleanup(time, settings.responseTimeout(), workers),
				new Census(), boundary, observer, workers);
		this.blocking = new BlockingEntrance(this.context);
	}

	private static LockObserver withLog(List<? extends LockObserver> observers) {
		List<LockObserver> all = new ArrayList<>();
		all.add(new LoggingLockObserver());
		all.addAll(observers);
		return SafeObserver.of(all);
	}

	@Override
	public LockHandle acquire(LockRequest request) {
		return hold(request, Refusal.THROWS).closedInCode();
	}

	@Override
	public Optional<LockHandle> tryAcquire(LockRequest request) {
		try {
			return Optional.of(hold(request, Refusal.SKIPS).closedInCode());
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
		HeldLocks held;
		try {
			held = hold(request, Refusal.SKIPS);
		}
		catch (LockSkippedException ex) {
			return otherwise.run(ex);
		}
		return run(held, action);
	}

	private static <T extends @Nullable Object, E extends Throwable> T run(HeldLocks held, LockedAction<T, E> action)
			throws E {
		T result;
		try (held) {
			result = action.run(held);
			held.assertHeldAtEnd();
		}
		held.assertEndedInTime();
		return result;
	}

	private HeldLocks hold(LockRequest request, Refusal refusal) {
		return this.blocking.hold(terms(request), refusal);
	}

	private List<Terms> terms(LockRequest request) {
		return Terms.of(request, this.backends, this.context.settings());
	}

	@Override
	public CompletionStage<LockHandle> acquireAsync(LockRequest request) {
		return mapped(holdAsync(request, Refusal.THROWS), (held, failure) -> {
			if (failure != null) {
				throw new CompletionException(failure);
			}
			return held;
		});
	}

	@Override
	public CompletionStage<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
		return mapped(holdAsync(request, Refusal.SKIPS), (held, failure) -> {
			if (failure != null && !(failure instanceof LockSkippedException)) {
				throw new CompletionException(failure);
			}
			return Optional.ofNullable(held);
		});
	}

	@Override
	public <T extends @Nullable Object> CompletionStage<T> executeAsync(LockRequest request,
			Function<LockHandle, CompletionStage<T>> action) {
		return holdAsync(request, Refusal.THROWS)
			.thenCompose((held) -> Answers.ask(() -> action.apply(held)).thenApply((result) -> {
				held.assertHeldAtEnd();
				return result;
			}).whenComplete((result, failure) -> held.close()));
	}

	private CompletableFuture<HeldLocks> holdAsync(LockRequest request, Refusal refusal) {
		return new AsyncEntrance(this.context, terms(request), refusal).hold();
	}

	/**
	 * To cancel what the caller got must withdraw the claim, or let go of what was
	 * granted meanwhile.
	 */
	private static <R> CompletableFuture<R> mapped(CompletableFuture<HeldLocks> held,
			BiFunction<@Nullable HeldLocks, @Nullable Throwable, R> mapping) {
		CompletableFuture<R> result = held.handle(mapping);
		result.whenComplete((value, failure) -> {
			if (result.isCancelled()) {
				held.cancel(false);
				held.thenAccept(LockHandle::close);
			}
		});
		return result;
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
