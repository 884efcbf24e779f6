package io.holdfast.lock;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * The holds of the current thread, innermost first. Re-entry, the current handle and the
 * check before a commit read this context.
 *
 * <p>
 * Internal: Holdfast and tests use this class, and it may change in any release.
 * Applications call {@link LockHandle#current()}.
 *
 * <p>
 * Any thread may end a binding. All other operations concern only the calling thread: it
 * alone adds bindings and unlinks those that have ended.
 */
public final class LockContext {

	/**
	 * The innermost binding of each thread that has ever held a lock. The reference stays
	 * with the thread, because adding and removing it would cost more than the bindings.
	 * Without a binding, it refers to no class of the application, so it keeps none of a
	 * stopped application in the threads of its container.
	 */
	private static final ThreadLocal<@Nullable AtomicReference<@Nullable Binding>> CURRENT = new ThreadLocal<>();

	private LockContext() {
	}

	/**
	 * Returns the holds of the current thread, innermost first. On a thread of a
	 * {@code ForkJoinPool}, returns only those of the current task. While a task waits
	 * for another task, the pool may run an unrelated one on the same thread.
	 * @return a copy; empty if there are none
	 */
	public static List<LockHandle> handles() {
		AtomicReference<@Nullable Binding> innermost = CURRENT.get();
		return (innermost != null) ? boundSince(StackedTasks.count(), innermost) : List.of();
	}

	/**
	 * Returns the holds of other tasks that the current thread has started. These tasks
	 * wait on its stack until the current task completes.
	 * @return a copy; empty unless this is a thread of a {@code ForkJoinPool}
	 */
	public static List<LockHandle> handlesOfWaitingTasks() {
		AtomicReference<@Nullable Binding> innermost = StackedTasks.possible() ? CURRENT.get() : null;
		if (innermost == null) {
			return List.of();
		}
		List<LockHandle> all = new ArrayList<>(boundSince(0, innermost));
		all.removeAll(boundSince(StackedTasks.count(), innermost));
		return all;
	}

	private static List<LockHandle> boundSince(int tasks, AtomicReference<@Nullable Binding> innermost) {
		unlinkEnded(innermost);
		Binding first = innermost.get();
		if (first == null) {
			return List.of();
		}
		List<LockHandle> bound = new ArrayList<>();
		for (Binding binding = first; binding != null; binding = binding.outer) {
			LockHandle handle = binding.handle;
			if (handle != null && binding.tasks >= tasks) {
				bound.add(handle);
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
		AtomicReference<@Nullable Binding> innermost = CURRENT.get();
		List<LockHandle> left = (innermost != null) ? boundSince(0, innermost) : List.of();
		left.forEach(LockContext::unbind);
		return left;
	}

	/**
	 * Returns the innermost hold of the current thread.
	 * @return the handle, or {@code null} if there is none
	 */
	static @Nullable LockHandle innermost() {
		AtomicReference<@Nullable Binding> innermost = CURRENT.get();
		Binding first = (innermost != null) ? living(innermost.get()) : null;
		return (first != null && first.tasks >= StackedTasks.count()) ? first.handle : null;
	}

	/**
	 * Makes a hold the innermost one of the current thread.
	 * @param handle the handle of the hold
	 * @return the binding
	 */
	public static Binding bind(LockHandle handle) {
		AtomicReference<@Nullable Binding> innermost = CURRENT.get();
		if (innermost == null) {
			innermost = new AtomicReference<>();
			CURRENT.set(innermost);
		}
		Binding binding = new Binding(handle, StackedTasks.count(), innermost);
		innermost.set(binding);
		return binding;
	}

	/**
	 * Removes a hold from the current thread. The hold remains usable through its handle,
	 * for work that completes on another thread. Has no effect if the hold is not bound
	 * here.
	 * @param handle the handle of the hold
	 */
	public static void unbind(LockHandle handle) {
		AtomicReference<@Nullable Binding> innermost = CURRENT.get();
		if (innermost != null) {
			List<LockHandle> parts = handle.parts();
			for (Binding binding = innermost.get(); binding != null; binding = binding.outer) {
				LockHandle bound = binding.handle;
				if (bound != null && parts.contains(bound)) {
					binding.end();
				}
			}
			unlinkEnded(innermost);
		}
	}

	private static void unlinkEnded(AtomicReference<@Nullable Binding> innermost) {
		Binding last = innermost.get();
		Binding first = living(last);
		if (first != last) {
			innermost.set(first);
		}
		for (Binding binding = first; binding != null; binding = binding.outer) {
			binding.outer = living(binding.outer);
		}
	}

	private static @Nullable Binding living(@Nullable Binding first) {
		Binding binding = first;
		while (binding != null && binding.handle == null) {
			binding = binding.outer;
		}
		return binding;
	}

	/**
	 * The binding of one hold to its thread. Thread-safe.
	 */
	public static final class Binding implements Runnable {

		private static final int BOUND = 0;

		private static final int INTERRUPTING = 1;

		private static final int ENDED = 2;

		private static final AtomicIntegerFieldUpdater<Binding> STATE = AtomicIntegerFieldUpdater
			.newUpdater(Binding.class, "state");

		private final Thread thread = Thread.currentThread();

		/** The innermost binding of the thread. */
		private final AtomicReference<@Nullable Binding> innermost;

		/** The number of tasks that the thread had started when the hold was bound. */
		private final int tasks;

		private volatile @Nullable Binding outer;

		private volatile int state;

		/**
		 * Null after the end. A thread that has not noticed the end keeps no hold alive.
		 */
		private volatile @Nullable LockHandle handle;

		private Binding(LockHandle handle, int tasks, AtomicReference<@Nullable Binding> innermost) {
			this.handle = handle;
			this.tasks = tasks;
			this.innermost = innermost;
			this.outer = living(innermost.get());
		}

		/**
		 * Returns the thread while one of the holds bound to it matches.
		 * @param condition the condition that one of the holds must match
		 * @return the thread, or {@code null} if no hold matches any more
		 */
		public @Nullable Thread threadIfAny(Predicate<LockHandle> condition) {
			for (Binding binding = this.innermost.get(); binding != null; binding = binding.outer) {
				LockHandle bound = binding.handle;
				if (bound != null && condition.test(bound)) {
					return this.thread;
				}
			}
			return null;
		}

		/**
		 * Returns whether {@link LockContext#handles()} contains the hold now.
		 * @return whether the calling thread, or its current task, has the hold
		 */
		public boolean isCurrent() {
			return this.handle != null && this.thread == Thread.currentThread() && this.tasks >= StackedTasks.count();
		}

		/** Ends the binding. Calling it again has no effect. */
		@Override
		public void run() {
			end();
			if (this.thread == Thread.currentThread()) {
				unlinkEnded(this.innermost);
			}
		}

		/**
		 * Awaits an interrupt that another thread has started, which takes no longer than
		 * the call of a method. The JDK's futures do the same.
		 */
		private void end() {
			while (this.state != ENDED && !STATE.compareAndSet(this, BOUND, ENDED)) {
				Thread.yield();
			}
			this.handle = null;
		}

		/**
		 * Interrupts the thread if one of the holds bound to it matches. The binding of
		 * that hold does not end during the call, so the interrupt never reaches later
		 * work of the thread.
		 * @param condition the condition that one of the holds must match
		 */
		public void interruptIfAny(Predicate<LockHandle> condition) {
			for (Binding binding = this.innermost.get(); binding != null; binding = binding.outer) {
				LockHandle bound = binding.handle;
				if (bound != null && condition.test(bound) && binding.interrupt()) {
					return;
				}
			}
		}

		private boolean interrupt() {
			boolean bound = STATE.compareAndSet(this, BOUND, INTERRUPTING);
			if (bound) {
				try {
					this.thread.interrupt();
				}
				finally {
					this.state = BOUND;
				}
			}
			return bound;
		}

	}

}
