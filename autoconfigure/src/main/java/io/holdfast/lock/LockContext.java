package io.holdfast.lock;

import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The holds that the current thread stands in, innermost first. Re-entry, the current
 * handle and the check before a commit all read it.
 *
 * <p>
 * A binding may be ended by any thread; all else concerns the calling thread alone.
 */
public final class LockContext {

	private static final ThreadLocal<LockContext> CURRENT = new ThreadLocal<>();

	private final Thread thread = Thread.currentThread();

	private final Deque<Bound> handles = new ConcurrentLinkedDeque<>();

	/** Keeps a binding from ending while its thread is being interrupted for it. */
	private final ReentrantLock ending = new ReentrantLock();

	private LockContext() {
	}

	/**
	 * The holds of the current thread, innermost first. On a thread of a
	 * {@code ForkJoinPool}, those of the current task: while a task waits for another,
	 * its pool may run any third one on the same thread.
	 * @return a copy; empty if there are none
	 */
	public static List<LockHandle> handles() {
		LockContext context = CURRENT.get();
		return (context != null) ? context.boundSince(StackedTasks.count()) : List.of();
	}

	/**
	 * The holds of other tasks, which the current thread has begun and which wait on it
	 * for the current task to end.
	 * @return a copy; empty unless this is a thread of a {@code ForkJoinPool}
	 */
	public static List<LockHandle> handlesOfWaitingTasks() {
		LockContext context = CURRENT.get();
		if (context == null || !StackedTasks.possible()) {
			return List.of();
		}
		List<LockHandle> all = context.boundSince(0);
		all.removeAll(context.boundSince(StackedTasks.count()));
		return all;
	}

	private List<LockHandle> boundSince(int tasks) {
		removeIfEmpty();
		List<LockHandle> bound = new ArrayList<>(this.handles.size());
		for (Bound each : this.handles) {
			if (each.tasks() >= tasks) {
				bound.add(each.handle());
			}
		}
		return bound;
	}

	/**
	 * Takes all holds off the current thread, such as those that a test has left there.
	 * They are not released: close the handles for that.
	 * @return the handles that were there, innermost first
	 */
	public static List<LockHandle> clear() {
		LockContext context = CURRENT.get();
		List<LockHandle> left = (context != null) ? context.boundSince(0) : List.of();
		left.forEach(LockContext::unbind);
		return left;
	}

	/**
	 * The innermost hold of the current thread.
	 * @return the handle, or {@code null} if there is none
	 */
	static @Nullable LockHandle innermost() {
		LockContext context = CURRENT.get();
		Bound first = (context != null) ? context.handles.peekFirst() : null;
		return (first != null && first.tasks() >= StackedTasks.count()) ? first.handle() : null;
	}

	/**
	 * Make a hold the innermost of the current thread.
	 * @param handle the handle of the hold
	 * @return the binding
	 */
	public static Binding bind(LockHandle handle) {
		LockContext context = CURRENT.get();
		if (context == null) {
			context = new LockContext();
			CURRENT.set(context);
		}
		context.handles.addFirst(new Bound(handle, StackedTasks.count()));
		return context.new Binding(handle);
	}

	/**
	 * Take a hold off the current thread: it lives on in its handle, for a body that ends
	 * on another thread. Does nothing if it is not bound here.
	 * @param handle the handle of the hold
	 */
	public static void unbind(LockHandle handle) {
		LockContext context = CURRENT.get();
		if (context != null) {
			handle.parts().forEach(context::end);
		}
	}

	private void end(LockHandle handle) {
		this.ending.lock();
		try {
			this.handles.removeIf((bound) -> bound.handle().equals(handle));
		}
		finally {
			this.ending.unlock();
		}
		if (CURRENT.get() == this) {
			removeIfEmpty();
		}
	}

	private void removeIfEmpty() {
		if (this.handles.isEmpty()) {
			CURRENT.remove();
		}
	}

	/**
	 * A hold and how many tasks its thread had begun when it was bound.
	 */
	private record Bound(LockHandle handle, int tasks) {
	}

	/**
	 * The place of one hold on its thread. Thread-safe.
	 */
	public final class Binding implements Runnable {

		private final LockHandle handle;

		private Binding(LockHandle handle) {
			this.handle = handle;
		}

		/** Ends the binding. Calling it again has no effect. */
		@Override
		public void run() {
			LockContext.this.end(this.handle);
		}

		/**
		 * Interrupts the thread if one of the holds that are bound to it matches. None of
		 * them ends meanwhile, so the interrupt never reaches later work of the thread.
		 * @param condition what one of the holds must match
		 */
		public void interruptIfAny(Predicate<LockHandle> condition) {
			LockContext.this.ending.lock();
			try {
				if (LockContext.this.handles.stream().map(Bound::handle).anyMatch(condition)) {
					LockContext.this.thread.interrupt();
				}
			}
			finally {
				LockContext.this.ending.unlock();
			}
		}

	}

}
