package io.holdfast.lock.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.support.NonBlockingThreads;

/**
 * The holds of the calling thread: it re-enters a lock that it already holds, and must
 * not wait where it would wait for itself.
 */
final class ThreadHolds {

	static final int MAX_NESTED_HOLDS = 256;

	private final EngineContext context;

	ThreadHolds(EngineContext context) {
		this.context = context;
	}

	/**
	 * Re-enters all of the locks, without waiting.
	 * @param depth how many holds of this thread surround the new ones
	 * @return the holds, or {@code null} if this thread lacks one of the locks, perhaps
	 * because another thread closes its hold at this moment
	 */
	@Nullable HeldLocks reenterAll(List<ResolvedRequest> all, int depth) {
		if (!includeAll(all)) {
			return null;
		}
		List<Hold> holds = new ArrayList<>(all.size());
		try {
			for (ResolvedRequest request : all) {
				Hold again = reenter(request);
				if (again == null) {
					CombinedHold.discard(holds);
					return null;
				}
				holds.add(again.bind(depth));
			}
			return CombinedHold.of(holds);
		}
		catch (RuntimeException | Error ex) {
			CombinedHold.discard(holds);
			throw ex;
		}
	}

	private boolean includeAll(List<ResolvedRequest> all) {
		for (ResolvedRequest request : all) {
			if (held(request) == null) {
				return false;
			}
		}
		return true;
	}

	/** Whether this thread holds at least one of the locks. */
	boolean includeAny(List<ResolvedRequest> all) {
		return all.stream().anyMatch((request) -> held(request) != null);
	}

	/**
	 * Re-enters a lock.
	 * @return another hold of the same lease, or {@code null} if this thread has none or
	 * the lease has ended meanwhile
	 */
	@Nullable Hold reenter(ResolvedRequest request) {
		Hold held = held(request);
		if (held == null) {
			return null;
		}
		requireNoUpgrade(held, request);
		return held.reenter(request.minHold());
	}

	/**
	 * Returns how many holds of this thread surround the new one. Unbounded recursion
	 * fails here, at {@value #MAX_NESTED_HOLDS} nested holds, while its stack still has
	 * room to release the locks.
	 */
	static int depth(ResolvedRequest request) {
		List<LockHandle> handles = LockContext.handles();
		List<LockHandle> surrounding = handles.isEmpty() ? LockContext.handlesOfWaitingTasks() : handles;
		int depth = surrounding.isEmpty() ? 0 : depthBelow(surrounding);
		if (depth >= MAX_NESTED_HOLDS) {
			throw new LockConfigurationException(
					"Lock '%s' was not acquired: this thread already has %s nested holds, the maximum. Check for unbounded recursion, or for handles that are not closed."
						.formatted(request.lock(), depth));
		}
		return depth;
	}

	/** Ignores holds that are closed, and only kept until the transaction ends. */
	private static int depthBelow(List<LockHandle> innermostFirst) {
		for (LockHandle handle : innermostFirst) {
			if (handle instanceof Hold hold && !hold.isClosed()) {
				return hold.depth() + 1;
			}
		}
		return 0;
	}

	/**
	 * Returns the leases under which this thread runs a body. Code that manages a handle
	 * itself may close it on another thread.
	 */
	static Set<Lease> leasesOfRunningBodies() {
		return LockContext.handles()
			.stream()
			.filter(Hold.class::isInstance)
			.map(Hold.class::cast)
			.filter((hold) -> !hold.userManaged)
			.map(Hold::lease)
			.collect(Collectors.toSet());
	}

	/**
	 * Rejects a lock that a waiting task on this thread holds. A task that waits under
	 * its lock may run another task on its thread meanwhile. The other task must not
	 * re-enter the lock, because it is not part of the first, and must not wait for it.
	 */
	void requireHeldByNoWaitingTask(List<ResolvedRequest> all) {
		for (LockHandle handle : LockContext.handlesOfWaitingTasks()) {
			for (ResolvedRequest request : all) {
				if (isHoldOf(handle, request)
						&& !(request.mode() == LockMode.SHARED && handle.mode() == LockMode.SHARED)) {
					throw new LockConfigurationException(
							"Lock '%s' was not acquired: another task holds it on this thread ('%s') and waits for a further task inside its locked body, so the pool runs this one on the same thread. Waiting for the lock here would never end. Do not wait for tasks of a ForkJoinPool (join, get, parallel streams) while holding a lock, or run the locked body on an executor that is not a ForkJoinPool."
								.formatted(request.lock(), Thread.currentThread().getName()));
				}
			}
		}
	}

	/**
	 * Rejects a thread that delivers the store's responses: these, and renewals of other
	 * holds, would wait for it. Rejects a thread of Reactor that must not block, too: an
	 * event loop would serve no other request during the wait.
	 */
	static void requireMayWait(ResolvedRequest request) {
		Thread thread = Thread.currentThread();
		if (NonBlockingThreads.includeCurrent()) {
			throw new LockConfigurationException(
					"Lock '%s' was not acquired: thread '%s' must not block, and this call waits for backend %s. Use 'executeAsync' or 'acquireAsync', or make the call on Schedulers.boundedElastic()."
						.formatted(request.lock(), thread.getName(), request.backend().name()));
		}
		if (request.backend().answersOn(thread)) {
			throw new LockConfigurationException(
					"Lock '%s' was not acquired: thread '%s' delivers the responses of backend %s and must not wait for one. Make the call on another executor, or use 'acquireAsync'."
						.formatted(request.lock(), thread.getName(), request.backend().name()));
		}
	}

	/** Returns the innermost hold of this lock by this thread. */
	private @Nullable Hold held(ResolvedRequest request) {
		for (LockHandle handle : LockContext.handles()) {
			if (isHoldOf(handle, request)) {
				return (Hold) handle;
			}
		}
		return null;
	}

	private boolean isHoldOf(LockHandle handle, ResolvedRequest request) {
		if (!(handle instanceof Hold hold) || !hold.belongsTo(this.context)) {
			return false;
		}
		ResolvedRequest held = hold.lease().request();
		return held.lock().equals(request.lock()) && held.backend() == request.backend();
	}

	private static void requireNoUpgrade(Hold hold, ResolvedRequest request) {
		if (request.mode() == LockMode.EXCLUSIVE && hold.lease().request().mode() == LockMode.SHARED) {
			throw new LockConfigurationException(
					"Lock '%s' is held SHARED by this thread and cannot be upgraded to EXCLUSIVE: two readers that both upgrade would deadlock. Acquire it EXCLUSIVE from the start."
						.formatted(request.lock()));
		}
	}

}
