package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.function.BiFunction;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.StripedMap;

/**
 * Wait queues for the callers of this JVM, one for each lock and mode. The admitted
 * caller of a queue requests the lock from the store and then holds it, so only one of
 * many callers puts load on the store. A fair caller has a queue of its own, because the
 * store alone knows the order of arrival. So has a shared caller that does not wait.
 *
 * <p>
 * A queue exists only while a caller is admitted or waits, or while a sticky lease stays
 * in it. Thread-safe. Callbacks run outside of all locks.
 */
final class LocalWaitQueues {

	private final StripedMap<QueueKey, LocalWaitQueue> queues;

	private final SchedulingClock time;

	LocalWaitQueues(SchedulingClock time) {
		this(time, new StripedMap<>());
	}

	LocalWaitQueues(SchedulingClock time, StripedMap<QueueKey, LocalWaitQueue> queues) {
		this.time = time;
		this.queues = queues;
	}

	int size() {
		return this.queues.keys().size();
	}

	/** Returns the sticky lease of a lock while no caller of its queue is there. */
	private @Nullable StoreLease unusedLease(QueueKey anyOfTheLock) {
		QueueKey key = anyOfTheLock.ofLeases();
		StripedMap.Stripe<QueueKey, LocalWaitQueue> stripe = this.queues.of(key);
		stripe.lock();
		try {
			LocalWaitQueue present = stripe.get(key);
			return (present != null) ? present.unusedLease() : null;
		}
		finally {
			stripe.unlock();
		}
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

		/**
		 * The caller has given up. It keeps its position until the lease that came with
		 * its admission has ended.
		 */
		LEAVING,

		/** The caller has left the queue. */
		LEFT

	}

	/**
	 * A caller's wait, and its position in the wait queue of its lock: the lease keeps it
	 * until the lease has ended. Any thread may give it up.
	 */
	abstract static class Ticket extends StepScheduler {

		private final LocalWaitQueues queues;

		final ResolvedRequest request;

		private final QueueKey queueKey;

		private boolean outwaitsDemand;

		/**
		 * Why the outcome of the latest attempt is unknown, or {@code null} if it is
		 * known. Only steps of the caller write it; it stays after the grant.
		 */
		volatile @Nullable Throwable lastUnknown;

		/** Guarded by the stripe of the map, but any thread may read it. */
		volatile State state = State.OUTSIDE;

		/** The queue that was entered. */
		@Nullable LocalWaitQueue queue;

		/** The lease of the caller, from the grant on. */
		volatile @Nullable Lease lease;

		/** The lease that came with the admission, if the last holder left one. */
		@Nullable StoreLease idleLease;

		/**
		 * Creates the ticket of a caller, which is not in its queue yet.
		 * @param wait the time that is left for this lock
		 * @param executor runs the steps of the caller
		 */
		Ticket(LocalWaitQueues queues, ResolvedRequest request, long startedAt, Duration wait, Executor executor) {
			super(queues.time, startedAt, wait.toNanos(), executor);
			this.queues = queues;
			this.request = request;
			this.queueKey = QueueKey.of(this);
		}

		/** Spreads tickets at less cost than the identity of an object. */
		@Override
		public int hashCode() {
			return Long.hashCode(this.startedAt);
		}

		@Override
		public boolean equals(@Nullable Object other) {
			return this == other;
		}

		/**
		 * Lets a caller that does not wait for holders wait for an idle lease, which
		 * another instance was asked to release. Only steps of the caller call this.
		 * @return whether it waits now and has not done so before
		 */
		boolean outwaitsDemand() {
			if (hasDeadline()) {
				return false;
			}
			this.outwaitsDemand = true;
			extend(Backoff.forDemand(elapsed()));
			return true;
		}

		/** Whether the caller sends nothing after the wait. */
		boolean hasDeadline() {
			return this.outwaitsDemand || this.request.waits();
		}

		boolean deadlineHasPassed() {
			return hasDeadline() && left() <= 0;
		}

		/** Called when the caller is admitted after waiting. */
		abstract void onAdmitted();

		/** Called when the caller has waited for long enough. */
		abstract void timedOut();

		/**
		 * Asks to be admitted. An unused lease that this caller cannot take over ends.
		 * @return the state after that; {@link State#OUTSIDE} if another caller comes
		 * first and this one does not wait
		 */
		State enter() {
			StoreLease unused = this.queueKey.isOfLeases() ? null : this.queues.unusedLease(this.queueKey);
			if (unused != null) {
				unused.endIfIdle();
			}
			return visit(LocalWaitQueue::enter);
		}

		/**
		 * Marks the queue as about to be left: the admitted caller only awaits the
		 * store's response. Even a caller that does not wait for holders waits for that.
		 */
		void leaving() {
			if (isAdmitted()) {
				visit(LocalWaitQueue::leaving);
			}
		}

		boolean isAdmitted() {
			return this.state == State.ADMITTED;
		}

		/**
		 * Returns why the outcome of the caller before this one is unknown, as for a
		 * store that has not answered it in time. That of this one would be, too.
		 * @return the cause, or {@code null} if the outcome is known
		 */
		@Nullable Throwable unknownOutcomeBefore() {
			return visit(LocalWaitQueue::unknownOutcomeBefore);
		}

		/** Whether the admitted caller of the queue only awaits the store's response. */
		boolean isHolderLeaving() {
			return visit((queue, ticket) -> queue.isLeaving());
		}

		/**
		 * Leaves the queue, so that the next caller is admitted. Does nothing if left.
		 */
		void leave() {
			if (this.state != State.LEFT) {
				notified(visit(LocalWaitQueue::leave));
			}
		}

		/**
		 * Leaves the queue and leaves the lease there, idle, for the next caller. Does
		 * nothing if no caller waits, unless the lease is sticky. A caller that comes at
		 * this moment may be overlooked: it is admitted when this one has released the
		 * lease.
		 * @return whether the lease is left there
		 */
		boolean passOn(StoreLease lease) {
			return notified(visit((queue, ticket) -> queue.passOn(ticket, lease)));
		}

		/** Whether a caller has ever waited behind this one. */
		boolean mayHaveSuccessor() {
			LocalWaitQueue entered = this.queue;
			return entered != null && entered.hadWaiters();
		}

		/** Removes the lease of this caller if it stayed in the queue until its end. */
		void forget(StoreLease ended) {
			if (ended.grant().sticky()) {
				visit((queue, ticket) -> queue.forget(ended));
			}
		}

		private static boolean notified(@Nullable Runnable notification) {
			if (notification != null) {
				notification.run();
			}
			return notification != null;
		}

		/** Returns the lease that came with the admission, once. */
		@Nullable StoreLease takeIdleLease() {
			return (this.idleLease != null) ? visit(LocalWaitQueue::takeIdleLease) : null;
		}

		/** The queue has admitted this ticket; it may have left again since. */
		void admitted() {
			run(() -> {
				if (isAdmitted()) {
					onAdmitted();
				}
			});
		}

		/** No caller is admitted now, but another one may be admitted first. */
		void available() {
			run(() -> {
				if (visit(LocalWaitQueue::take)) {
					onAdmitted();
				}
				else if (!this.request.waits() && visit(LocalWaitQueue::isOvertaken)) {
					timedOut();
				}
			});
		}

		/** Runs a step on the queue of this ticket, which ends with its last caller. */
		private <T extends @Nullable Object> T visit(BiFunction<LocalWaitQueue, Ticket, T> step) {
			StripedMap.Stripe<QueueKey, LocalWaitQueue> stripe = this.queues.queues.of(this.queueKey);
			stripe.lock();
			try {
				LocalWaitQueue present = stripe.get(this.queueKey);
				LocalWaitQueue visited = (present != null) ? present : new LocalWaitQueue(this.time);
				T result = step.apply(visited, this);
				if (visited.isIdle()) {
					stripe.remove(this.queueKey);
				}
				else if (present == null) {
					stripe.put(this.queueKey, visited);
				}
				return result;
			}
			finally {
				stripe.unlock();
			}
		}

	}

}
