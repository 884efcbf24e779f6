package io.holdfast.lock.backend.zookeeper;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * A clock whose tasks run when the test says so.
 */
final class ScriptedTimers implements SchedulingClock {

	private final List<Runnable> tasks = new ArrayList<>();

	private @Nullable Error error;

	/** Lets the next timer fail. */
	void failNext(Error error) {
		this.error = error;
	}

	@Override
	public long nanos() {
		return 0;
	}

	@Override
	public Runnable after(long delayNanos, Runnable task) {
		Error thrown = this.error;
		this.error = null;
		if (thrown != null) {
			throw thrown;
		}
		this.tasks.add(task);
		return () -> this.tasks.remove(task);
	}

	/** Returns the tasks that have not run. */
	List<Runnable> tasks() {
		return this.tasks;
	}

	void run() {
		List<Runnable> due = List.copyOf(this.tasks);
		this.tasks.clear();
		due.forEach(Runnable::run);
	}

}
