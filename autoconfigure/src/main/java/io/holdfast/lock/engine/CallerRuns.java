package io.holdfast.lock.engine;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs the steps of one acquisition on the thread that waits for it: that thread would
 * only be parked otherwise, a store that blocks then blocks nobody else, and no step
 * needs a lock.
 *
 * <p>
 * Steps that come after the wait has ended, such as an answer that came too late, run on
 * the thread that brings them.
 */
final class CallerRuns implements Executor {

	private final Thread caller = Thread.currentThread();

	private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();

	private volatile boolean ended;

	@Override
	public void execute(Runnable step) {
		this.steps.add(step);
		if (this.ended) {
			runSteps();
		}
		else {
			LockSupport.unpark(this.caller);
		}
	}

	/**
	 * Run steps until a result is there. An interrupt does not end this by itself; it is
	 * told once, and the thread's flag is set again at the end.
	 */
	void runUntilDone(CompletableFuture<?> result, Runnable onInterrupt) {
		boolean interrupted = false;
		try {
			while (!result.isDone()) {
				runSteps();
				if (result.isDone()) {
					break;
				}
				if (Thread.interrupted()) {
					interrupted = true;
					onInterrupt.run();
				}
				else if (this.steps.isEmpty()) {
					LockSupport.park(this);
				}
			}
		}
		finally {
			this.ended = true;
			runSteps();
			if (interrupted) {
				this.caller.interrupt();
			}
		}
	}

	private void runSteps() {
		Runnable step;
		while ((step = this.steps.poll()) != null) {
			step.run();
		}
	}

}
