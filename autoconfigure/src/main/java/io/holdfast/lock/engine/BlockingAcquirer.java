package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.engine.AcquisitionObserver.IfRefused;
import io.holdfast.lock.spi.TransactionBoundary.SetAside;

/**
 * Acquires locks for a thread that may block. The thread re-enters a lock that it already
 * holds, and waits for any other lock.
 */
final class BlockingAcquirer {

	static final int MAX_NESTED_HOLDS = 256;

	private final EngineContext context;

	BlockingAcquirer(EngineContext context) {
		this.context = context;
	}

	/**
	 * Acquires all locks or none. State that the caller has read is set aside before the
	 * first new lock, until all holds have ended.
	 */
	Outcome<HeldLocks> hold(List<ResolvedRequest> all, IfRefused ifRefused) {
		int depth = depth(all.get(0));
		requireHeldByNoWaitingTask(all);
		if (holdsAll(all)) {
			return acquire(all, ifRefused, depth);
		}
		requireOtherThread(all.get(0));
		SetAside setAside = this.context.boundary().setAside(locks(all));
		Outcome<HeldLocks> outcome;
		try {
			outcome = acquire(all, ifRefused, depth);
		}
		catch (RuntimeException | Error ex) {
			setAside.restore();
			throw ex;
		}
		if (!(outcome instanceof Outcome.Granted)) {
			setAside.restore();
		}
		return outcome.map((held) -> held.settingAside(setAside));
	}

	private boolean holdsAll(List<ResolvedRequest> all) {
		for (ResolvedRequest terms : all) {
			if (held(terms) == null) {
				return false;
			}
		}
		return true;
	}

	private static List<LockName> locks(List<ResolvedRequest> all) {
		return (all.size() == 1) ? List.of(all.get(0).lock()) : all.stream().map(ResolvedRequest::lock).toList();
	}

	/**
	 * Rejects a thread that delivers the store's responses. These, and renewals of other
	 * holds, would wait for it.
	 */
	private static void requireOtherThread(ResolvedRequest terms) {
		Thread thread = Thread.currentThread();
		if (terms.backend().answersOn(thread)) {
			throw new LockConfigurationException(
					"Lock '%s' was not acquired: thread '%s' delivers the responses of backend %s and must not wait for one. Make the call on another executor, or use 'acquireAsync'."
						.formatted(terms.lock(), thread.getName(), terms.backend().name()));
		}
	}

	/**
	 * Returns how many holds of this thread surround the new one. Unbounded recursion
	 * fails here, at {@value #MAX_NESTED_HOLDS} nested holds, while its stack still has
	 * room to release the locks.
	 */
	private static int depth(ResolvedRequest terms) {
		List<LockHandle> handles = LockContext.handles();
		handles = handles.isEmpty() ? LockContext.handlesOfWaitingTasks() : handles;
		int depth = (!handles.isEmpty() && handles.get(0) instanceof Hold innermost) ? innermost.depth() + 1 : 0;
		if (depth >= MAX_NESTED_HOLDS) {
			throw new LockConfigurationException(
					"Lock '%s' was not acquired: this thread already has %s nested holds, the maximum. Check for unbounded recursion, or for handles that are not closed."
						.formatted(terms.lock(), depth));
		}
		return depth;
	}

	/**
	 * Rejects a lock that a waiting task on this thread holds. A task that waits under
	 * its lock may run another task on its thread meanwhile. The other task must not
	 * re-enter the lock, because it is not part of the first, and must not wait for it.
	 */
	private void requireHeldByNoWaitingTask(List<ResolvedRequest> all) {
		for (LockHandle handle : LockContext.handlesOfWaitingTasks()) {
			for (ResolvedRequest terms : all) {
				if (isHoldOf(handle, terms) && !(terms.mode() == LockMode.SHARED && handle.mode() == LockMode.SHARED)) {
					throw new LockConfigurationException(
							"Lock '%s' was not acquired: another task holds it on this thread ('%s') and waits for a further task inside its locked body, so the pool runs this one on the same thread. Waiting for the lock here would never end. Do not wait for tasks of a ForkJoinPool (join, get, parallel streams) while holding a lock, or run the locked body on an executor that is not a ForkJoinPool."
								.formatted(terms.lock(), Thread.currentThread().getName()));
				}
			}
		}
	}

	/**
	 * Acquires as many of the locks as possible in parallel, and the others one after
	 * another in the given order. Each of them gets the rest of the wait time.
	 */
	private Outcome<HeldLocks> acquire(List<ResolvedRequest> all, IfRefused ifRefused, int depth) {
		if (all.size() == 1) {
			return hold(all.get(0), ifRefused, depth).map(Function.identity());
		}
		long deadline = this.context.time().nanos() + all.get(0).waitTime().toNanos();
		List<Hold> holds = new ArrayList<>(attemptInParallel(all, depth));
		try {
			for (ResolvedRequest terms : all.subList(holds.size(), all.size())) {
				Outcome<Hold> next = hold(terms.withWaitTime(deadline - this.context.time().nanos()), ifRefused, depth);
				if (!(next instanceof Outcome.Granted<Hold> granted)) {
					CombinedHold.close(holds);
					return next.map(Function.identity());
				}
				holds.add(granted.value());
			}
			return new Outcome.Granted<>(CombinedHold.of(holds));
		}
		catch (RuntimeException | Error ex) {
			CombinedHold.close(holds);
			throw ex;
		}
	}

	/** Acquires as many of the first locks as are available immediately. */
	private List<Hold> attemptInParallel(List<ResolvedRequest> all, int depth) {
		if (!ParallelFirstAttempt.saves(all, this.context.settings())
				|| all.stream().anyMatch((terms) -> held(terms) != null)) {
			return List.of();
		}
		all.forEach((terms) -> this.context.boundary().beforeAcquire(terms.lock()));
		CallerThreadExecutor steps = new CallerThreadExecutor();
		ParallelFirstAttempt ahead = new ParallelFirstAttempt(this.context, all, () -> steps, requests(all.get(0)));
		CompletableFuture<List<Hold>> holds = ahead.begin();
		steps.runUntilDone(holds, ahead::cancel);
		return holds.join().stream().map((hold) -> hold.bind(depth)).toList();
	}

	private Outcome<Hold> hold(ResolvedRequest terms, IfRefused ifRefused, int depth) {
		Hold again = reenter(terms);
		if (again != null) {
			return new Outcome.Granted<>(again.bind(depth));
		}
		// again for a lock that the parallel first attempt did not get: the caller now
		// waits while it holds the locks before it
		this.context.boundary().beforeAcquire(terms.lock());
		CallerThreadExecutor steps = new CallerThreadExecutor();
		Acquisition acquisition = new Acquisition(this.context, terms, ifRefused, steps, requests(terms));
		steps.runUntilDone(acquisition::beginHere, acquisition.outcome(), acquisition::cancel);
		return acquisition.outcome().join().map((lease) -> new Hold(this.context, lease).bind(depth));
	}

	private StoreRequest.Sender requests(ResolvedRequest terms) {
		return this.context.workers().attemptsOnCaller(terms.backend());
	}

	private @Nullable Hold reenter(ResolvedRequest terms) {
		Hold held = held(terms);
		if (held == null) {
			return null;
		}
		requireNoUpgrade(held, terms);
		return held.reenter(terms.request().minHold());
	}

	/** Returns the innermost hold of this lock by this thread. */
	private @Nullable Hold held(ResolvedRequest terms) {
		for (LockHandle handle : LockContext.handles()) {
			if (isHoldOf(handle, terms)) {
				return (Hold) handle;
			}
		}
		return null;
	}

	private boolean isHoldOf(LockHandle handle, ResolvedRequest terms) {
		if (!(handle instanceof Hold hold) || !hold.belongsTo(this.context)) {
			return false;
		}
		ResolvedRequest held = hold.lease().terms();
		return held.lock().equals(terms.lock()) && held.backend() == terms.backend();
	}

	private static void requireNoUpgrade(Hold hold, ResolvedRequest terms) {
		if (terms.mode() == LockMode.EXCLUSIVE && hold.lease().terms().mode() == LockMode.SHARED) {
			throw new LockConfigurationException(
					"Lock '%s' is held SHARED by this thread and cannot be upgraded to EXCLUSIVE: two readers that both upgrade would deadlock. Acquire it EXCLUSIVE from the start."
						.formatted(terms.lock()));
		}
	}

}
