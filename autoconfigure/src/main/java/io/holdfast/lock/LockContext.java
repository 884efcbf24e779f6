package io.holdfast.lock;

import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The holds of the current thread, innermost first. Re-entry, the current handle and the
 * check before a commit read this context.
 *
 * <p>
 * Any thread may end a binding. All other operations concern only the calling thread.
 */
public final class LockContext {

	private static final ThreadLocal<LockContext> CURRENT = new ThreadLocal<>();

	private final Thread thread = Thread.currentThread();

	private final Deque<Bound> handles = new ConcurrentLinkedDeque<>();

	/** Prevents a binding from ending while its thread is being interrupted for it. */
	private final ReentrantLock ending = new ReentrantLock();

	private LockContext() {
	}

	/**
	 * Returns the holds of the current thread, innermost first. On a thread of a
	 * {@code ForkJoinPool}, returns only those of the current task. While a task waits
	 * for another task, the pool may run an unrelated one on the same thread.
	 * @return a copy; empty if there are none
	 */
	public static List<LockHandle> handles() {
		LockContext context = CURRENT.get();
		return (context != null) ? context.boundSince(StackedTasks.count()) : List.of();
	}

	/**
	 * Returns the holds of other tasks that the current thread has started. These tasks
	 * wait on its stack until the current task completes.
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
	 * Removes all holds from the current thread, such as those that a test has left
	 * behind. Does not release them; close the handles for that.
	 * @return the handles that were removed, innermost first
	 */
	public static List<LockHandle> clear() {
		LockContext context = CURRENT.get();
		List<LockHandle> left = (context != null) ? context.boundSince(0) : List.of();
		left.forEach(LockContext::unbind);
		return left;
	}

	/**
	 * Returns the innermost hold of the current thread.
	 * @return the handle, or {@code null} if there is none
	 */
	static @Nullable LockHandle innermost() {
		LockContext context = CURRENT.get();
		Bound first = (context != null) ? context.handles.peekFirst() : null;
		return (first != null && first.tasks() >= StackedTasks.count()) ? first.handle() : null;
	}

	/**
	 * Makes a hold the innermost one of the current thread.
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
	 * Removes a hold from the current thread. The hold remains usable through its handle,
	 * for work that completes on another thread. Has no effect if the hold is not bound
	 * here.
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
	 * A hold and the number of tasks that its thread had started when it was bound.
	 */
	private record Bound(LockHandle handle, int tasks) {
	}

	/**
	 * The binding of one hold to its thread. Thread-safe.
	 */
	public final class Binding implements Runnable {

		private final LockHandle handle;

		private Binding(LockHandle handle) {
			this.handle = handle;
		}

		/**
		 * Returns the thread while one of the holds bound to it matches.
		 * @param condition the condition that one of the holds must match
		 * @return the thread, or {@code null} if no hold matches any more
		 */
		public @Nullable Thread threadIfAny(Predicate<LockHandle> condition) {
			return LockContext.this.handles.stream().map(Bound::handle).anyMatch(condition) ? LockContext.this.thread
					: null;
		}

		/** Ends the binding. Calling it again has no effect. */
		@Override
		public void run() {
			LockContext.this.end(this.handle);
		}

		/**
		 * Interrupts the thread if one of the holds bound to it matches. None of these
		 * bindings ends during the call, so the interrupt never reaches later work of the
		 * thread.
		 * @param condition the condition that one of the holds must match
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
