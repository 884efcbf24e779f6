package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LockedAction;
import io.holdfast.lock.UnlockedAction;
import io.holdfast.lock.engine.AcquisitionObserver.IfRefused;
import io.holdfast.lock.spi.ManagedHold.Checkpoint;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.LockObserver;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.SystemSchedulingClock;

/**
 * Acquires locks from its backends, renews their leases while they are held, and releases
 * them.
 *
 * <p>
 * Thread-safe. {@link #close()} stops all acquisitions. Running bodies may complete
 * within the shutdown timeout, and their leases are still renewed meanwhile. Locks that
 * are held after that are declared lost and released.
 */
public final class LockEngine implements LockOperations, AutoCloseable {

	private static final Log logger = LogFactory.getLog(LockEngine.class);

	private static final int MAX_LOGGED = 10;

	private final LockBackends backends;

	private final EngineContext context;

	private final BlockingAcquirer blocking;

	private final Runnable closeThreads;

	/**
	 * Creates an engine that uses the system's clock and its own threads.
	 * @param backends the backends
	 * @param settings the settings of the engine
	 * @param boundary relates holds to the caller's transactions
	 * @param observers the observers to notify of lock events
	 */
	public LockEngine(LockBackends backends, EngineSettings settings, TransactionBoundary boundary,
			List<? extends LockObserver> observers) {
		this(backends, settings, boundary, withLog(observers), new SystemSchedulingClock("holdfast-timer"),
				new Workers());
	}

	private LockEngine(LockBackends backends, EngineSettings settings, TransactionBoundary boundary,
			LockObserver observer, SystemSchedulingClock time, Workers workers) {
		this(backends, settings, boundary, observer, time, workers, () -> {
			time.close();
			workers.close();
		});
	}

	/**
	 * Creates an engine that uses the given clock and executor.
	 * @param closeThreads closes both
	 */
	LockEngine(LockBackends backends, EngineSettings settings, TransactionBoundary boundary, LockObserver observer,
			SchedulingClock time, Executor executor, Runnable closeThreads) {
		this(backends, settings, boundary, observer, time, Workers.on(executor), closeThreads);
	}

	LockEngine(LockBackends backends, EngineSettings settings, TransactionBoundary boundary, LockObserver observer,
			SchedulingClock time, Workers workers, Runnable closeThreads) {
		this.backends = backends;
		this.closeThreads = closeThreads;
		this.context = new EngineContext(settings, time, new LocalWaitQueues(time),
				new Watchdog(time, settings, observer, workers.renewals()),
				new ReleaseRetrier(time, settings, workers.releases()), new HoldRegistry(), boundary, observer,
				workers);
		this.blocking = new BlockingAcquirer(this.context);
	}

	private static LockObserver withLog(List<? extends LockObserver> observers) {
		List<LockObserver> all = new ArrayList<>();
		all.add(new LoggingLockObserver());
		all.addAll(observers);
		return LockObserver.all(all);
	}

	@Override
	public LockHandle acquire(LockRequest request) {
		return hold(request, IfRefused.FAIL).orElseThrow().userManaged();
	}

	@Override
	public Optional<LockHandle> tryAcquire(LockRequest request) {
		return unlessRefused(hold(trying(request), IfRefused.SKIP).map(HeldLocks::userManaged));
	}

	private static Optional<LockHandle> unlessRefused(Outcome<HeldLocks> outcome) {
		return (outcome instanceof Outcome.Refused) ? Optional.empty() : Optional.of(outcome.orElseThrow());
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockedAction<T, E> action)
			throws E {
		return run(hold(request, IfRefused.FAIL).orElseThrow(), action);
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T executeOrElse(LockRequest request,
			LockedAction<T, E> action, UnlockedAction<T, E> otherwise) throws E {
		Outcome<HeldLocks> outcome = hold(request, IfRefused.SKIP);
		if (outcome instanceof Outcome.Refused<HeldLocks> refused) {
			return otherwise.run(refused.exception().get());
		}
		return run(outcome.orElseThrow(), action);
	}

	private static <T extends @Nullable Object, E extends Throwable> T run(HeldLocks held, LockedAction<T, E> action)
			throws E {
		T result;
		try (held) {
			result = action.run(held);
			held.verify(Checkpoint.RETURN);
		}
		held.verify(Checkpoint.RELEASED);
		return result;
	}

	private Outcome<HeldLocks> hold(LockRequest request, IfRefused ifRefused) {
		return this.blocking.hold(terms(request), ifRefused);
	}

	/** Sets the wait time to zero unless the request specifies one. */
	private static LockRequest trying(LockRequest request) {
		return (required(request).waitTime() != null) ? request : request.toBuilder().waitTime(Duration.ZERO).build();
	}

	private List<ResolvedRequest> terms(LockRequest request) {
		return ResolvedRequest.of(required(request), this.backends, this.context.settings());
	}

	private static LockRequest required(@Nullable LockRequest request) {
		if (request == null) {
			throw new LockConfigurationException(
					"The lock request is null. Pass a LockRequest, such as LockRequest.of(\"stock\", 42).");
		}
		return request;
	}

	@Override
	public CompletionStage<LockHandle> acquireAsync(LockRequest request) {
		return AsyncResults.deliver(holdAsync(request, IfRefused.FAIL), Outcome::orElseThrow, callbacks());
	}

	@Override
	public CompletionStage<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
		return AsyncResults.deliver(holdAsync(trying(request), IfRefused.SKIP), LockEngine::unlessRefused, callbacks());
	}

	@Override
	public <T extends @Nullable Object> CompletionStage<T> executeAsync(LockRequest request,
			Function<LockHandle, CompletionStage<T>> action) {
		return AsyncResults.execute(holdAsync(request, IfRefused.FAIL), action, callbacks());
	}

	/**
	 * Closes a hold when a stage has completed, regardless of the state of the returned
	 * future. Never blocks the thread that completes the stage.
	 * @param stage the work that needs the lock
	 * @param handle the hold, which is not bound to a thread
	 * @param <T> the type of the result
	 * @return a future that completes as the stage does, after the store has responded to
	 * the release if callers wait for that. It fails with a
	 * {@link io.holdfast.lock.LockLostException} if the hold was lost meanwhile.
	 * Completing the future does not complete the stage
	 */
	public static <T extends @Nullable Object> CompletableFuture<T> closeAfter(CompletionStage<T> stage,
			LockHandle handle) {
		return AsyncResults.closeAfter(stage, handle);
	}

	private Executor callbacks() {
		return this.context.workers().callbacks();
	}

	private CompletableFuture<Outcome<HeldLocks>> holdAsync(LockRequest request, IfRefused ifRefused) {
		return new AsyncAcquirer(this.context, terms(request), ifRefused).hold();
	}

	EngineContext context() {
		return this.context;
	}

	/**
	 * Returns whether this engine has acquired a hold.
	 * @param hold the handle of the hold
	 * @return whether all parts of the hold belong to this engine
	 */
	public boolean owns(LockHandle hold) {
		return hold.parts().stream().allMatch((part) -> part instanceof Hold own && own.belongsTo(this.context));
	}

	@Override
	public void close() {
		if (!this.context.registry().close()) {
			return;
		}
		this.context.registry().waiting().forEach(Acquisition::stop);
		announceWait();
		this.context.registry().awaitNoneInUse(this.context.settings().shutdownTimeout().toNanos());
		this.context.registry().held().forEach(Lease::endAtShutdown);
		this.context.retrier().awaitAnswers();
		this.context.retrier().close();
		this.closeThreads.run();
	}

	private void announceWait() {
		List<String> inUse = this.context.registry()
			.held()
			.stream()
			.filter(Lease::inUse)
			.map((lease) -> lease.terms().lock().toString())
			.sorted()
			.toList();
		if (!inUse.isEmpty()) {
			logger.info("Closing waits up to %s for %s locks that are in use: %s".formatted(
					DurationText.of(this.context.settings().shutdownTimeout()), inUse.size(),
					String.join(", ", inUse.subList(0, Math.min(inUse.size(), MAX_LOGGED)))));
		}
	}

}
