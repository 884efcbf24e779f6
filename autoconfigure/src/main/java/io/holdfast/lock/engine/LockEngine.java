package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LockedAction;
import io.holdfast.lock.UnlockedAction;
import io.holdfast.lock.engine.AcquisitionObserver.IfRefused;
import io.holdfast.lock.spi.ManagedHold.Checkpoint;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.TransactionBoundary.SetAside;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.spi.observation.LockObserver;
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

	private final LockBackends backends;

	private final EngineContext context;

	private final TransactionBoundary boundary;

	private final Workers workers;

	private final ClosableHold.Rules rules;

	private final ThreadHolds threadHolds;

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
		this.context = new EngineContext(settings, time, new OwnerIds(), new LocalWaitQueues(time),
				new ReleasesInProgress(), new Watchdog(time, settings, observer, workers.renewals()),
				new ReleaseRetrier(time, settings, workers.releases()), new HoldRegistry(), observer,
				workers.callbacks());
		this.boundary = boundary;
		this.workers = workers;
		this.rules = new ClosableHold.Rules(boundary, settings.awaitRelease(), workers.callbacks());
		this.threadHolds = new ThreadHolds(this.context);
	}

	private static LockObserver withLog(List<? extends LockObserver> observers) {
		return LockObserver
			.all(Stream.<LockObserver>concat(Stream.of(new LoggingLockObserver()), observers.stream()).toList());
	}

	@Override
	public LockHandle acquire(LockRequest request) {
		return hold(request, IfRefused.FAIL).orElseThrow().userManaged();
	}

	@Override
	public Optional<LockHandle> tryAcquire(LockRequest request) {
		return unlessRefused(
				hold(ResolvedRequest.withoutDefaultWait(request), IfRefused.SKIP).map(HeldLocks::userManaged));
	}

	private static Optional<LockHandle> unlessRefused(Outcome<HeldLocks> outcome) {
		return (outcome instanceof Outcome.Refused) ? Optional.empty() : Optional.of(outcome.orElseThrow());
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T execute(LockRequest request, LockedAction<T, E> action)
			throws E {
		return this.boundary.run(() -> run(hold(request, IfRefused.FAIL).orElseThrow(), action));
	}

	@Override
	public <T extends @Nullable Object, E extends Throwable> T executeOrElse(LockRequest request,
			LockedAction<T, E> action, UnlockedAction<T, E> otherwise) throws E {
		return this.boundary.run(() -> {
			Outcome<? extends HeldLocks> outcome = hold(request, IfRefused.SKIP);
			return (outcome instanceof Outcome.Refused<?> refused) ? otherwise.run(refused.exception().get())
					: run(outcome.orElseThrow(), action);
		});
	}

	private static <T extends @Nullable Object, E extends Throwable> T run(HeldLocks held, LockedAction<T, E> action)
			throws E {
		T result;
		try (held; LockObservation.Scope ignored = held.openScope()) {
			result = action.run(held);
			held.verify(Checkpoint.RETURN);
		}
		held.verify(Checkpoint.RELEASED);
		return result;
	}

	/**
	 * Acquires all locks or none, on the calling thread. State that the caller has read
	 * is set aside before the first new lock, until all holds have ended.
	 */
	private Outcome<? extends HeldLocks> hold(LockRequest request, IfRefused ifRefused) {
		List<ResolvedRequest> all = ResolvedRequest.of(request, this.backends, this.context.settings());
		int depth = ThreadHolds.depth(all.get(0));
		this.threadHolds.requireHeldByNoWaitingTask(all);
		HeldLocks again = this.threadHolds.reenterAll(all, depth);
		if (again != null) {
			return new Outcome.Granted<>(again);
		}
		ThreadHolds.requireMayWait(all.get(0));
		SetAside setAside = this.boundary.setAside(ResolvedRequest.locks(all));
		Outcome<? extends HeldLocks> outcome;
		try {
			outcome = acquire(all, ifRefused, depth);
		}
		catch (RuntimeException | Error ex) {
			setAside.restore();
			throw ex;
		}
		if (outcome instanceof Outcome.Granted<? extends HeldLocks> granted) {
			granted.value().setAside(setAside);
		}
		else {
			setAside.restore();
		}
		return outcome;
	}

	/**
	 * Acquires as many of the locks as possible in parallel, and the others one after
	 * another in the given order. Each of them gets the rest of the wait time.
	 */
	private Outcome<? extends HeldLocks> acquire(List<ResolvedRequest> all, IfRefused ifRefused, int depth) {
		if (all.size() == 1) {
			return acquire(all.get(0), ifRefused, depth).map(Hold::startMinHold);
		}
		long deadline = this.context.time().nanos() + all.get(0).waitTime().toNanos();
		List<Hold> holds = new ArrayList<>(attemptInParallel(all));
		try {
			holds.forEach((hold) -> hold.bind(depth));
			for (ResolvedRequest request : all.subList(holds.size(), all.size())) {
				long left = deadline - this.context.time().nanos();
				Outcome<Hold> next = acquire(request.withWaitTime(left), ifRefused, depth);
				if (!(next instanceof Outcome.Granted<Hold> granted)) {
					CombinedHold.discard(holds);
					return next;
				}
				holds.add(granted.value());
			}
			return new Outcome.Granted<>(CombinedHold.of(holds));
		}
		catch (RuntimeException | Error ex) {
			CombinedHold.discard(holds);
			throw ex;
		}
	}

	/** Acquires as many of the first locks as are available immediately. */
	private List<Hold> attemptInParallel(List<ResolvedRequest> all) {
		if (!ParallelFirstAttempt.saves(all, this.context.settings()) || this.threadHolds.includeAny(all)) {
			return List.of();
		}
		all.forEach((request) -> this.boundary.beforeAcquire(request.lock()));
		CallerThreadExecutor steps = new CallerThreadExecutor();
		ParallelFirstAttempt ahead = new ParallelFirstAttempt(this.context, all, () -> steps, senderFor(all.get(0)),
				this::holdOf);
		CompletableFuture<List<Hold>> holds = ahead.start();
		steps.runUntilDone(holds, ahead::cancel);
		return holds.join();
	}

	/** Re-enters a lock, or waits for it while this thread runs the steps. */
	private Outcome<Hold> acquire(ResolvedRequest request, IfRefused ifRefused, int depth) {
		Hold again = this.threadHolds.reenter(request);
		if (again != null) {
			return new Outcome.Granted<>(again.bind(depth));
		}
		// again after the parallel attempt: the caller now waits while it holds others
		this.boundary.beforeAcquire(request.lock());
		CallerThreadExecutor steps = new CallerThreadExecutor();
		Acquisition acquisition = new Acquisition(this.context, request, ifRefused, steps, senderFor(request));
		steps.runUntilDone(acquisition::startHere, acquisition.outcome(), acquisition::cancel);
		return acquisition.outcome().join().map((lease) -> holdOf(lease).bind(depth));
	}

	private Hold holdOf(Lease lease) {
		return new Hold(lease, this.rules);
	}

	private StoreRequest.Sender senderFor(ResolvedRequest request) {
		return this.workers.attemptsOnCaller(request.backend());
	}

	@Override
	public CompletionStage<LockHandle> acquireAsync(LockRequest request) {
		return AsyncResults.deliver(holdAsync(request, IfRefused.FAIL), Outcome::orElseThrow, this.workers.callbacks());
	}

	@Override
	public CompletionStage<Optional<LockHandle>> tryAcquireAsync(LockRequest request) {
		return AsyncResults.deliver(holdAsync(ResolvedRequest.withoutDefaultWait(request), IfRefused.SKIP),
				LockEngine::unlessRefused, this.workers.callbacks());
	}

	@Override
	public <T extends @Nullable Object> CompletionStage<T> executeAsync(LockRequest request,
			Function<LockHandle, CompletionStage<T>> action) {
		return AsyncResults.execute(holdAsync(request, IfRefused.FAIL), action, this.workers.callbacks());
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

	private CompletableFuture<Outcome<HeldLocks>> holdAsync(LockRequest request, IfRefused ifRefused) {
		List<ResolvedRequest> all = ResolvedRequest.of(request, this.backends, this.context.settings());
		return new AsyncAcquirer(this.context, this.boundary, this.workers, this::holdOf, all, ifRefused).hold();
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
		if (this.context.registry().shutDown(this.context.settings().shutdownTimeout())) {
			this.context.retrier().awaitConfirmations();
			this.context.retrier().close();
			this.closeThreads.run();
		}
	}

}
