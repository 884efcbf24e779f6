package io.holdfast.lock.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Wait queues for the callers of this JVM, one for each lock and mode. The admitted
 * caller of a queue requests the lock from the store and then holds it, so only one of
 * many callers that want a lock puts load on the store.
 *
 * <p>
 * The queues <em>age</em>. When the admitted caller leaves, any running thread may be
 * admitted next, without waking another one. Once the first waiter has waited for
 * {@value #AGE_MILLIS} ms, the queue admits it directly. Strict order would wake a thread
 * for each admission, and unlimited overtaking could starve a waiter; aging bounds the
 * wait at almost no cost. A fair waiter is never overtaken.
 *
 * <p>
 * A queue exists only while a caller is admitted or waits. Thread-safe. Callbacks run
 * outside of all locks.
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

		private final boolean waits;

		private final boolean fair;

		private final long since;

		private final Executor steps;

		private final Runnable onAdmitted;

		/** Changed only by the map's atomic operations on the key. */
		private volatile State state = State.OUTSIDE;

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
				WaitQueue queue = (existing != null) ? existing : new WaitQueue();
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
					queue.leaving |= isAdmitted();
					return queue;
				});
			}
		}

		boolean isAdmitted() {
			return this.state == State.ADMITTED;
		}

		/** Whether the admitted caller of the queue only awaits the store's response. */
		boolean isHolderLeaving() {
			WaitQueue queue = LocalWaitQueues.this.queues.get(this.queueKey);
			return queue != null && queue.leaving;
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

		/** The queue has admitted this ticket; it may have left again since. */
		private void admitted() {
			this.steps.execute(() -> {
				if (isAdmitted()) {
					this.onAdmitted.run();
				}
			});
		}

		/** No caller is admitted now, but another one may be admitted first. */
		private void available() {
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

	/**
	 * The queue of one lock. Confined to the map's atomic operations on its key, except
	 * that any thread may read whether the admitted caller is leaving.
	 */
	private final class WaitQueue {

		private final Deque<Ticket> waiters = new ArrayDeque<>(2);

		private boolean admitted;

		private volatile boolean leaving;

		State enter(Ticket ticket) {
			if (!this.admitted && mayOvertake(ticket)) {
				this.admitted = true;
				return State.ADMITTED;
			}
			if (!ticket.waits && !(this.leaving && this.waiters.isEmpty())) {
				return State.OUTSIDE;
			}
			this.waiters.addLast(ticket);
			return State.QUEUED;
		}

		private boolean mayOvertake(Ticket ticket) {
			Ticket first = this.waiters.peekFirst();
			return first == null || !(ticket.fair || mustBeNext(first));
		}

		private boolean mustBeNext(Ticket first) {
			return first.fair || LocalWaitQueues.this.time.nanos() - first.since >= AGE_NANOS;
		}

		/** Admits the first waiter, unless another caller is admitted. */
		boolean take(Ticket ticket) {
			if (this.admitted || this.waiters.peekFirst() != ticket) {
				return false;
			}
			this.waiters.removeFirst();
			this.admitted = true;
			ticket.state = State.ADMITTED;
			return true;
		}

		/** Returns the notification of the next caller, if there is one to notify. */
		@Nullable Runnable leave(Ticket ticket) {
			State before = ticket.state;
			ticket.state = State.LEFT;
			return switch (before) {
				case ADMITTED -> free();
				case QUEUED -> withdraw(ticket);
				case OUTSIDE, LEFT -> null;
			};
		}

		private @Nullable Runnable free() {
			this.leaving = false;
			this.admitted = false;
			Ticket first = this.waiters.peekFirst();
			if (first == null) {
				return null;
			}
			if (mustBeNext(first)) {
				take(first);
				return first::admitted;
			}
			return first::available;
		}

		private @Nullable Runnable withdraw(Ticket ticket) {
			this.waiters.remove(ticket);
			Ticket first = this.waiters.peekFirst();
			return (!this.admitted && first != null) ? first::available : null;
		}

		@Nullable WaitQueue unlessIdle() {
			return (this.admitted || !this.waiters.isEmpty()) ? this : null;
		}

	}

}
