package io.holdfast.lock.engine;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs the steps of one acquisition on the thread that waits for it: that thread would
 * only be parked otherwise, a store that blocks then blocks nobody else, and no step
 * needs a lock.
 *
 * <p>
 * Steps that come after the wait has ended, such as an answer that came too late, run on
 * the thread that brings them. The thread is unparked only while it is parked here, so no
 * permit is left on it that would end a later park of the caller's own code.
 */
final class CallerThreadExecutor implements Executor {

	private static final long LONGEST_UNPARK_NANOS = 1_000_000;

	private final Thread caller = Thread.currentThread();

	private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();

	private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);

	private volatile boolean ended;

	@Override
	public void execute(Runnable step) {
		this.steps.add(step);
		if (this.ended) {
			runSteps();
		}
		else if (this.state.compareAndSet(State.PARKED, State.UNPARKED)) {
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
				else {
					awaitStep();
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

	private void awaitStep() {
		this.state.set(State.PARKED);
		boolean woken = false;
		while (this.steps.isEmpty() && !this.caller.isInterrupted() && this.state.get() == State.PARKED) {
			LockSupport.park(this);
			woken = this.state.get() != State.PARKED;
		}
		if (!this.state.compareAndSet(State.PARKED, State.RUNNING)) {
			if (!woken || this.caller.isInterrupted()) {
				takePermit();
			}
			this.state.set(State.RUNNING);
		}
	}

	/**
	 * Another thread unparks this one, now or in a moment, and this one is not parked:
	 * the permit must not stay.
	 */
	private void takePermit() {
		if (Thread.interrupted()) {
			// the permit may be taken already
			LockSupport.parkNanos(this, LONGEST_UNPARK_NANOS);
			this.caller.interrupt();
		}
		else {
			LockSupport.park(this);
		}
	}

	private void runSteps() {
		Runnable step;
		while ((step = this.steps.poll()) != null) {
			step.run();
		}
	}

	/** What the waiting thread does. */
	private enum State {

		RUNNING, PARKED, UNPARKED

	}

}
