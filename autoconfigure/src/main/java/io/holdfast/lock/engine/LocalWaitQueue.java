package io.holdfast.lock.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.engine.LocalWaitQueues.State;
import io.holdfast.lock.engine.LocalWaitQueues.Ticket;
import io.holdfast.lock.support.SchedulingClock;

/**
 * The wait queue of one lock and mode.
 *
 * <p>
 * It <em>ages</em>. When the admitted caller leaves, any running thread may be admitted
 * next, without waking another one. Once the first waiter has waited for
 * {@value #AGE_MILLIS} ms, the queue admits it directly. Strict order would wake a thread
 * for each admission, and unlimited overtaking could starve a waiter; aging bounds the
 * wait at almost no cost.
 *
 * <p>
 * The admitted caller may leave its lease behind, idle. The next admitted caller gets it.
 * If no caller is left, the lease ends, unless it is sticky.
 *
 * <p>
 * Guarded by its stripe of the map ({@link LocalWaitQueues}), except that any thread may
 * read whether callers have waited.
 */
final class LocalWaitQueue {

	/** Notifies no caller, because none waits for the lease that stays. */
	private static final Runnable NONE_WAITS = () -> {
	};

	private static final long AGE_MILLIS = 1;

	private static final long AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(AGE_MILLIS);

	private final SchedulingClock time;

	/** Created for the first waiter; most queues never have one. */
	private volatile @Nullable Deque<Ticket> waiters;

	private @Nullable Ticket admitted;

	/** The lease that the last holder has left; the next admitted caller gets it. */
	private @Nullable StoreLease idleLease;

	private boolean leaving;

	/** Why the outcome of the last caller that left is unknown, or {@code null}. */
	private @Nullable Throwable unknownBefore;

	LocalWaitQueue(SchedulingClock time) {
		this.time = time;
	}

	boolean isLeaving() {
		return this.leaving;
	}

	/**
	 * The admitted caller only awaits the store's response.
	 * @return whether the ticket is that of this caller
	 */
	boolean leaving(Ticket ticket) {
		if (ticket.isAdmitted()) {
			this.leaving = true;
		}
		return ticket.isAdmitted();
	}

	/**
	 * Returns why the store has not confirmed or rejected the claim of the admitted
	 * caller, or of the one before if this caller itself comes next.
	 * @return the cause, or {@code null} if the outcome is known
	 */
	@Nullable Throwable unknownOutcomeBefore(Ticket ticket) {
		Ticket asked = this.admitted;
		return (asked == null || asked == ticket) ? this.unknownBefore : unknownOutcomeOf(asked);
	}

	private static @Nullable Throwable unknownOutcomeOf(Ticket ticket) {
		Throwable unknown = ticket.lastUnknown;
		return (ticket.lease == null && unknown != null && !Attempts.isInterrupt(unknown)) ? unknown : null;
	}

	State enter(Ticket ticket) {
		State state = stateOf(ticket);
		ticket.queue = this;
		ticket.state = state;
		return state;
	}

	private State stateOf(Ticket ticket) {
		if (this.admitted == null && mayOvertake()) {
			admit(ticket);
			return State.ADMITTED;
		}
		if (!ticket.request.waits() && !(this.leaving && first() == null)) {
			return State.OUTSIDE;
		}
		Deque<Ticket> present = this.waiters;
		if (present == null) {
			present = new ArrayDeque<>(2);
			this.waiters = present;
		}
		present.addLast(ticket);
		return State.QUEUED;
	}

	/** Whether a caller has ever waited in this queue. Any thread may call this. */
	boolean hadWaiters() {
		return this.waiters != null;
	}

	private @Nullable Ticket first() {
		Deque<Ticket> present = this.waiters;
		return (present != null) ? present.peekFirst() : null;
	}

	private void remove(Ticket ticket) {
		Deque<Ticket> present = this.waiters;
		if (present != null) {
			present.remove(ticket);
		}
	}

	private boolean mayOvertake() {
		Ticket first = first();
		return first == null || !mustBeNext(first);
	}

	private boolean mustBeNext(Ticket first) {
		return this.time.nanos() - first.startedAt >= AGE_NANOS;
	}

	/** Takes the lease that came with the admission of a caller, once. */
	@Nullable StoreLease takeIdleLease(Ticket ticket) {
		StoreLease idle = ticket.idleLease;
		ticket.idleLease = null;
		return idle;
	}

	/** Admits the first waiter, unless another caller is admitted. */
	boolean take(Ticket ticket) {
		if (this.admitted != null || first() != ticket) {
			return false;
		}
		remove(ticket);
		admit(ticket);
		ticket.state = State.ADMITTED;
		return true;
	}

	/** Whether a caller waits behind one that came later and is not leaving yet. */
	boolean isOvertaken(Ticket ticket) {
		return ticket.state == State.QUEUED && this.admitted != null && !this.leaving;
	}

	private void admit(Ticket ticket) {
		this.admitted = ticket;
		ticket.idleLease = this.idleLease;
		this.idleLease = null;
	}

	/**
	 * Lets the admitted caller leave its lease behind for a caller that waits, or for
	 * later ones.
	 * @return the notification of the next caller, or {@code null} if the lease does not
	 * stay
	 */
	@Nullable Runnable passOn(Ticket ticket, StoreLease lease) {
		if (!ticket.isAdmitted() || (first() == null && !lease.mayStay())) {
			return null;
		}
		lease.end.mayBeIdle();
		lease.idle();
		ticket.idleLease = lease;
		return leave(ticket);
	}

	/** Returns the notification of the next caller, if there is one to notify. */
	@Nullable Runnable leave(Ticket ticket) {
		State before = ticket.state;
		ticket.state = State.LEFT;
		return switch (before) {
			case ADMITTED, LEAVING -> free(ticket);
			case QUEUED -> withdraw(ticket);
			case OUTSIDE, LEFT -> null;
		};
	}

	private @Nullable Runnable free(Ticket ticket) {
		this.unknownBefore = unknownOutcomeOf(ticket);
		this.leaving = false;
		this.admitted = null;
		this.idleLease = ticket.idleLease;
		ticket.idleLease = null;
		Ticket first = first();
		if (first == null) {
			return endOfIdleLease(ticket);
		}
		if (mustBeNext(first)) {
			take(first);
			return first::admitted;
		}
		return first::available;
	}

	private @Nullable Runnable withdraw(Ticket ticket) {
		remove(ticket);
		Ticket first = first();
		if (first == null) {
			return endOfIdleLease(ticket);
		}
		return (this.admitted != null) ? null : first::available;
	}

	/**
	 * No caller is left to take the lease over, and it does not stay. The last one keeps
	 * its position until the store has responded to the release, so that the next caller
	 * asks after that.
	 */
	private @Nullable Runnable endOfIdleLease(Ticket last) {
		StoreLease idle = this.idleLease;
		if (idle == null) {
			return null;
		}
		if (idle.mayStay()) {
			return NONE_WAITS;
		}
		this.idleLease = null;
		this.admitted = last;
		this.leaving = true;
		last.state = State.LEAVING;
		return () -> {
			idle.endIfIdle();
			idle.end.idleEnded().whenComplete((answered, failure) -> last.leave());
		};
	}

	/**
	 * Removes a lease that has ended after it stayed here.
	 * @return whether it was still here
	 */
	boolean forget(StoreLease ended) {
		boolean present = this.idleLease == ended;
		this.idleLease = present ? null : this.idleLease;
		return present;
	}

	/** Returns the lease that stays here while no caller is admitted or waits. */
	@Nullable StoreLease unusedLease() {
		return (this.admitted == null && first() == null) ? this.idleLease : null;
	}

	boolean isIdle() {
		return this.admitted == null && this.idleLease == null && first() == null;
	}

}
