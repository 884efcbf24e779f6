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
 * The lines in which the callers of this JVM wait for each other, one line for each lock.
 * Who has the turn of a line talks to the store and then holds the lock; so of many
 * callers that want one lock, only one burdens the store.
 *
 * <p>
 * The lines are <em>aged</em>. A turn that comes free is open to whoever runs by: a
 * running thread takes it without the cost of waking another. Once the first in line has
 * waited for {@value #AGE_MILLIS} ms, though, the turn is passed to it directly. Strict
 * order would wake a thread for every turn, pure overtaking would let some wait for ever;
 * ageing bounds the wait at almost no cost. A waiter that asked for strict order is never
 * overtaken.
 *
 * <p>
 * A line exists only while somebody has its turn or waits. Thread-safe; callbacks run on
 * the thread that caused them, outside of every lock.
 */
final class LocalQueues {

	private static final long AGE_MILLIS = 1;

	private static final long AGE_NANOS = TimeUnit.MILLISECONDS.toNanos(AGE_MILLIS);

	private final Map<Slot, Line> lines = new ConcurrentHashMap<>();

	private final SchedulingClock time;

	LocalQueues(SchedulingClock time) {
		this.time = time;
	}

	/**
	 * Ask for the turn.
	 */
	Admission enter(Slot slot, Waiter waiter) {
		Admission[] admission = new Admission[1];
		this.lines.compute(slot, (key, existing) -> {
			Line line = (existing != null) ? existing : new Line();
			admission[0] = line.enter(waiter);
			return line;
		});
		return admission[0];
	}

	/**
	 * Take a free turn after having been told of it.
	 * @return whether the waiter has the turn now; if not, it stays in line
	 */
	boolean take(Slot slot, Waiter waiter) {
		boolean[] taken = new boolean[1];
		this.lines.computeIfPresent(slot, (key, line) -> {
			taken[0] = line.take(waiter);
			return line;
		});
		return taken[0];
	}

	/**
	 * Say that the one who has the turn is about to leave and only awaits the store's
	 * answer. Even a caller that does not wait for holders waits for that.
	 */
	void leaving(Slot slot) {
		this.lines.computeIfPresent(slot, (key, line) -> {
			line.leaving = true;
			return line;
		});
	}

	/** Whether the one who has the turn only awaits the store's answer. */
	boolean isLeaving(Slot slot) {
		boolean[] leaving = new boolean[1];
		this.lines.computeIfPresent(slot, (key, line) -> {
			leaving[0] = line.leaving;
			return line;
		});
		return leaving[0];
	}

	/**
	 * Give up the turn.
	 */
	void leave(Slot slot) {
		@Nullable Runnable[] next = new @Nullable Runnable[1];
		this.lines.computeIfPresent(slot, (key, line) -> {
			next[0] = line.leave();
			return line.unlessIdle();
		});
		run(next[0]);
	}

	/**
	 * Step out of the line. A waiter that was passed the turn at the same moment still
	 * has it.
	 */
	void withdraw(Slot slot, Waiter waiter) {
		@Nullable Runnable[] next = new @Nullable Runnable[1];
		this.lines.computeIfPresent(slot, (key, line) -> {
			next[0] = line.withdraw(waiter);
			return line.unlessIdle();
		});
		run(next[0]);
	}

	int size() {
		return this.lines.size();
	}

	private static void run(@Nullable Runnable task) {
		if (task != null) {
			task.run();
		}
	}

	/**
	 * What a line is for.
	 */
	record Slot(String backend, LockName lock, LockMode mode) {
	}

	/**
	 * What became of the wish for a turn.
	 */
	enum Admission {

		/** The turn is the caller's. */
		TAKEN,

		/** The caller stands in line and will be told. */
		QUEUED,

		/** Another has the turn, and this caller does not wait. */
		REFUSED

	}

	/**
	 * One who asks for a turn.
	 */
	interface Waiter {

		/** Since when it waits, on the engine's clock. */
		long since();

		/** Whether it waits at all. */
		boolean patient();

		/** Whether nobody may overtake it, and it overtakes nobody. */
		boolean fair();

		/**
		 * The turn is this waiter's now; called once, even after a withdrawal that came
		 * too late.
		 */
		void turnPassed();

		/** The turn is free: to {@link #take} it is worth a try. */
		void turnFree();

	}

	/**
	 * One line. Confined to the map's atomic operations on its key.
	 */
	private final class Line {

		private final Deque<Waiter> waiters = new ArrayDeque<>(2);

		private boolean taken;

		private boolean leaving;

		Admission enter(Waiter waiter) {
			if (!this.taken && mayOvertake(waiter)) {
				this.taken = true;
				return Admission.TAKEN;
			}
			if (!waiter.patient() && !(this.leaving && this.waiters.isEmpty())) {
				return Admission.REFUSED;
			}
			this.waiters.addLast(waiter);
			return Admission.QUEUED;
		}

		private boolean mayOvertake(Waiter waiter) {
			Waiter first = this.waiters.peekFirst();
			return first == null || !(waiter.fair() || mustBeNext(first));
		}

		private boolean mustBeNext(Waiter first) {
			return first.fair() || LocalQueues.this.time.nanos() - first.since() >= AGE_NANOS;
		}

		boolean take(Waiter waiter) {
			if (this.taken || this.waiters.peekFirst() != waiter) {
				return false;
			}
			this.waiters.removeFirst();
			this.taken = true;
			return true;
		}

		@Nullable Runnable leave() {
			this.leaving = false;
			this.taken = false;
			Waiter first = this.waiters.peekFirst();
			if (first == null) {
				return null;
			}
			if (mustBeNext(first)) {
				take(first);
				return first::turnPassed;
			}
			return first::turnFree;
		}

		@Nullable Runnable withdraw(Waiter waiter) {
			this.waiters.remove(waiter);
			Waiter first = this.waiters.peekFirst();
			return (!this.taken && first != null) ? first::turnFree : null;
		}

		@Nullable Line unlessIdle() {
			return (this.taken || !this.waiters.isEmpty()) ? this : null;
		}

	}

}
