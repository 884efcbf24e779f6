package io.holdfast.lock.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Wait queues for the callers of this JVM, one for each lock. The admitted caller of a
 * queue requests the lock from the store and then holds it, so only one of many callers
 * that want a lock puts load on the store.
 *
 * <p>
 * The queues <em>age</em>. A free place is open to any running thread, which takes it
 * without waking another one. Once the first waiter has waited for {@value #AGE_MILLIS}
 * ms, the queue hands over to it directly. Strict order would wake a thread for each
 * hand-over, and unlimited overtaking could starve a waiter; aging bounds the wait at
 * almost no cost. A fair waiter is never overtaken.
 *
 * <p>
 * A queue exists only while a caller is admitted or waits. Thread-safe. Callbacks run on
 * the thread that triggers them, outside of all locks.
 */
final class LocalWaitQueues {

	private static final long AGE_MILLIS = 1;

	private static final long AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(AGE_MILLIS);

	private final Map<QueueKey, WaitQueue> queues = new ConcurrentHashMap<>();

	private final SchedulingClock time;

	LocalWaitQueues(SchedulingClock time) {
		this.time = time;
	}

	/**
	 * Asks to be admitted.
	 */
	Admission enter(QueueKey queueKey, Waiter waiter) {
		Admission[] admission = new Admission[1];
		this.queues.compute(queueKey, (key, existing) -> {
			WaitQueue queue = (existing != null) ? existing : new WaitQueue();
			admission[0] = queue.enter(waiter);
			return queue;
		});
		return admission[0];
	}

	/**
	 * Admits a waiter that was notified of a free place.
	 * @return whether the waiter is admitted; otherwise it stays in the queue
	 */
	boolean take(QueueKey queueKey, Waiter waiter) {
		boolean[] admitted = new boolean[1];
		this.queues.computeIfPresent(queueKey, (key, queue) -> {
			admitted[0] = queue.take(waiter);
			return queue;
		});
		return admitted[0];
	}

	/**
	 * Marks the admitted caller as leaving: it only awaits the store's response. Even a
	 * caller that does not wait for holders waits for that.
	 */
	void leaving(QueueKey queueKey) {
		this.queues.computeIfPresent(queueKey, (key, queue) -> {
			queue.leaving = true;
			return queue;
		});
	}

	/** Whether the admitted caller only awaits the store's response. */
	boolean isLeaving(QueueKey queueKey) {
		boolean[] leaving = new boolean[1];
		this.queues.computeIfPresent(queueKey, (key, queue) -> {
			leaving[0] = queue.leaving;
			return queue;
		});
		return leaving[0];
	}

	/**
	 * Leaves the queue as its admitted caller.
	 */
	void leave(QueueKey queueKey) {
		@Nullable Runnable[] next = new @Nullable Runnable[1];
		this.queues.computeIfPresent(queueKey, (key, queue) -> {
			next[0] = queue.leave();
			return queue.unlessIdle();
		});
		run(next[0]);
	}

	/**
	 * Removes a waiter. One that was handed over to at the same moment stays admitted.
	 */
	void withdraw(QueueKey queueKey, Waiter waiter) {
		@Nullable Runnable[] next = new @Nullable Runnable[1];
		this.queues.computeIfPresent(queueKey, (key, queue) -> {
			next[0] = queue.withdraw(waiter);
			return queue.unlessIdle();
		});
		run(next[0]);
	}

	int size() {
		return this.queues.size();
	}

	private static void run(@Nullable Runnable task) {
		if (task != null) {
			task.run();
		}
	}

	/**
	 * Identifies a wait queue.
	 */
	record QueueKey(String backend, LockName lock, LockMode mode) {
	}

	/**
	 * The outcome of asking to be admitted.
	 */
	enum Admission {

		/** The caller is admitted. */
		ADMITTED,

		/** The caller waits and will be notified. */
		QUEUED,

		/** Another caller is admitted, and this one does not wait. */
		REJECTED

	}

	/**
	 * A caller that asks to be admitted.
	 */
	interface Waiter {

		/** When it began to wait, on the engine's clock. */
		long since();

		/** Whether it waits at all. */
		boolean waits();

		/** Whether it must neither be overtaken nor overtake others. */
		boolean fair();

		/**
		 * Called once when this waiter is admitted, even after a withdrawal that came too
		 * late.
		 */
		void onHandedOver();

		/** Called when the place is free, so that {@link #take} may succeed. */
		void onAvailable();

	}

	/**
	 * The queue of one lock. Confined to the map's atomic operations on its key.
	 */
	private final class WaitQueue {

		private final Deque<Waiter> waiters = new ArrayDeque<>(2);

		private boolean admitted;

		private boolean leaving;

		Admission enter(Waiter waiter) {
			if (!this.admitted && mayOvertake(waiter)) {
				this.admitted = true;
				return Admission.ADMITTED;
			}
			if (!waiter.waits() && !(this.leaving && this.waiters.isEmpty())) {
				return Admission.REJECTED;
			}
			this.waiters.addLast(waiter);
			return Admission.QUEUED;
		}

		private boolean mayOvertake(Waiter waiter) {
			Waiter first = this.waiters.peekFirst();
			return first == null || !(waiter.fair() || mustBeNext(first));
		}

		private boolean mustBeNext(Waiter first) {
			return first.fair() || LocalWaitQueues.this.time.nanos() - first.since() >= AGE_NANOS;
		}

		boolean take(Waiter waiter) {
			if (this.admitted || this.waiters.peekFirst() != waiter) {
				return false;
			}
			this.waiters.removeFirst();
			this.admitted = true;
			return true;
		}

		@Nullable Runnable leave() {
			this.leaving = false;
			this.admitted = false;
			Waiter first = this.waiters.peekFirst();
			if (first == null) {
				return null;
			}
			if (mustBeNext(first)) {
				take(first);
				return first::onHandedOver;
			}
			return first::onAvailable;
		}

		@Nullable Runnable withdraw(Waiter waiter) {
			this.waiters.remove(waiter);
			Waiter first = this.waiters.peekFirst();
			return (!this.admitted && first != null) ? first::onAvailable : null;
		}

		@Nullable WaitQueue unlessIdle() {
			return (this.admitted || !this.waiters.isEmpty()) ? this : null;
		}

	}

}
