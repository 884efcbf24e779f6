package io.holdfast.lock.engine;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Wait queues for the callers of this JVM, one for each lock and mode. The admitted
 * caller of a queue requests the lock from the store and then holds it, so only one of
 * many callers that want a lock puts load on the store.
 *
 *
 * <p>
 * A queue exists only while a caller is admitted or waits. Thread-safe. Callbacks run
 * outside of all locks.
 */
final class LocalWaitQueues {

	private final Map<QueueKey, LocalWaitQueue> queues = new ConcurrentHashMap<>();

	private final SchedulingClock time;

	LocalWaitQueues(SchedulingClock time) {
		this.time = time;
	}

	/**
	 * Creates the ticket of a caller, which is not in its queue yet.
	 * @param since when the caller began to wait, on the engine's clock
	 * @param steps runs the callback and the steps that lead to it
	 * @param onAdmitted runs when the caller is admitted after waiting
	 */
	Ticket ticket(ResolvedRequest request, long since, Executor steps, Runnable onAdmitted) {
		return new Ticket(request, since, steps, onAdmitted);
	}

	int size() {
		return this.queues.size();
	}

	/**
	 * The state of a ticket.
	 */
	enum State {

		/** The caller has not asked to be admitted, or it was rejected. */
		OUTSIDE,

		/** The caller waits and will be notified. */
		QUEUED,

		/** The caller is admitted. */
		ADMITTED,

		/** The caller has left the queue. */
		LEFT

	}

	/**
	 * A caller's position in the wait queue of its lock: the acquisition waits with it,
	 * and the lease keeps it until the lease has ended. Any thread may give it up.
	 */
	final class Ticket {

		private final QueueKey queueKey;

		final boolean waits;

		final boolean fair;

		final long since;

		private final Executor steps;

		private final Runnable onAdmitted;

		/** Changed only by the map's atomic operations on the key. */
		volatile State state = State.OUTSIDE;

		/** The lease that came with the admission, if the last holder left one. */
		@Nullable StoreLease idleLease;

		private Ticket(ResolvedRequest request, long since, Executor steps, Runnable onAdmitted) {
			this.queueKey = new QueueKey(request.backend().name(), request.lock(), request.mode());
			this.waits = request.waits();
			this.fair = request.fair();
			this.since = since;
			this.steps = steps;
			this.onAdmitted = onAdmitted;
		}

		/**
		 * Asks to be admitted.
		 * @return the state after that; {@link State#OUTSIDE} if another caller comes
		 * first and this one does not wait
		 */
		State enter() {
			State[] entered = new State[1];
			LocalWaitQueues.this.queues.compute(this.queueKey, (key, existing) -> {
				LocalWaitQueue queue = (existing != null) ? existing : new LocalWaitQueue(LocalWaitQueues.this.time);
				entered[0] = queue.enter(this);
				this.state = entered[0];
				return queue;
			});
			return entered[0];
		}

		/**
		 * Marks the queue as about to be left: the admitted caller only awaits the
		 * store's response. Even a caller that does not wait for holders waits for that.
		 */
		void leaving() {
			if (isAdmitted()) {
				LocalWaitQueues.this.queues.computeIfPresent(this.queueKey, (key, queue) -> {
					if (isAdmitted()) {
						queue.leaving();
					}
					return queue;
				});
			}
		}

		boolean isAdmitted() {
			return this.state == State.ADMITTED;
		}

		/** Whether the admitted caller of the queue only awaits the store's response. */
		boolean isHolderLeaving() {
			LocalWaitQueue queue = LocalWaitQueues.this.queues.get(this.queueKey);
			return queue != null && queue.isLeaving();
		}

		/**
		 * Leaves the queue, so that the next caller is admitted. Does nothing if left.
		 */
		void leave() {
			if (this.state == State.LEFT) {
				return;
			}
			@Nullable Runnable[] next = new @Nullable Runnable[1];
			LocalWaitQueues.this.queues.computeIfPresent(this.queueKey, (key, queue) -> {
				next[0] = queue.leave(this);
				return queue.unlessIdle();
			});
			if (next[0] != null) {
				next[0].run();
			}
		}

		/**
		 * Leaves the queue and leaves the lease there, idle, for the next caller. Does
		 * nothing if no caller waits.
		 * @return whether the lease is left to the callers that wait
		 */
		boolean passOn(StoreLease lease) {
			@Nullable Runnable[] next = new @Nullable Runnable[1];
			LocalWaitQueues.this.queues.computeIfPresent(this.queueKey, (key, queue) -> {
				next[0] = isAdmitted() ? queue.passOn(this, lease) : null;
				return queue;
			});
			if (next[0] == null) {
				return false;
			}
			next[0].run();
			return true;
		}

		/** Returns the lease that came with the admission, once. */
		@Nullable StoreLease takeIdleLease() {
			if (this.idleLease == null) {
				return null;
			}
			@Nullable StoreLease[] taken = new @Nullable StoreLease[1];
			LocalWaitQueues.this.queues.computeIfPresent(this.queueKey, (key, queue) -> {
				taken[0] = this.idleLease;
				this.idleLease = null;
				return queue;
			});
			return taken[0];
		}

		/** The queue has admitted this ticket; it may have left again since. */
		void admitted() {
			this.steps.execute(() -> {
				if (isAdmitted()) {
					this.onAdmitted.run();
				}
			});
		}

		/** No caller is admitted now, but another one may be admitted first. */
		void available() {
			this.steps.execute(() -> {
				boolean[] taken = new boolean[1];
				LocalWaitQueues.this.queues.computeIfPresent(this.queueKey, (key, queue) -> {
					taken[0] = queue.take(this);
					return queue;
				});
				if (taken[0]) {
					this.onAdmitted.run();
				}
			});
		}

	}

	/**
	 * Identifies a wait queue.
	 */
	private record QueueKey(String backend, LockName lock, LockMode mode) {
	}

}
