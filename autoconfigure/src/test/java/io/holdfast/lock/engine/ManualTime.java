package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;

import io.holdfast.lock.support.SchedulingClock;

/**
 * A clock that only a test advances. Due tasks run in order, on the thread that advances
 * it.
 */
final class ManualTime implements SchedulingClock {

	private final PriorityQueue<Task> tasks = new PriorityQueue<>(
			Comparator.comparingLong(Task::at).thenComparingLong(Task::number));

	private long now;

	private long numbers;

	/** The number of timers to set before one fails; negative if none does. */
	private int goodTimers = -1;

	/** Lets one timer fail, with an error like one of too little memory. */
	synchronized void failTimerAfter(int others) {
		this.goodTimers = others;
	}

	@Override
	public synchronized long nanos() {
		return this.now;
	}

	@Override
	public synchronized Runnable after(long delayNanos, Runnable task) {
		if (this.goodTimers >= 0 && this.goodTimers-- == 0) {
			throw new NoClassDefFoundError("undeployed");
		}
		Task planned = new Task(this.now + Math.max(0, delayNanos), this.numbers++, task);
		this.tasks.add(planned);
		return () -> cancel(planned);
	}

	private synchronized void cancel(Task task) {
		this.tasks.remove(task);
	}

	/** Advances the time without running due tasks, as a paused process does. */
	synchronized void pause(Duration duration) {
		this.now += duration.toNanos();
	}

	void advance(Duration duration) {
		long until = nanos() + duration.toNanos();
		Task next;
		while ((next = nextDue(until)) != null) {
			next.task().run();
		}
		synchronized (this) {
			this.now = Math.max(this.now, until);
		}
	}

	private synchronized Task nextDue(long until) {
		Task next = this.tasks.peek();
		if (next == null || next.at() > until) {
			return null;
		}
		this.tasks.remove();
		this.now = Math.max(this.now, next.at());
		return next;
	}

	synchronized int planned() {
		return this.tasks.size();
	}

	private record Task(long at, long number, Runnable task) {
	}

}
