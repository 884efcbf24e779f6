package io.holdfast.lock.engine;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs the steps of one acquisition on the thread that waits for it. That thread would
 * otherwise be parked, a blocking backend then blocks no other caller, and steps need no
 * lock.
 *
 * <p>
 * Steps that arrive after the wait, such as a late response, run on the thread that
 * submits them. The waiting thread is unparked only while it is parked here. No permit
 * remains that could end a later park in the caller's own code.
 */
final class CallerThreadExecutor implements Executor {

	private static final long LONGEST_UNPARK_NANOS = 1_000_000;

	private final Thread caller = Thread.currentThread();

	private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();

	private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);

	private volatile boolean ended;

	/** Returns the thread that waits. */
	Thread caller() {
		return this.caller;
	}

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

	/** Runs steps until a result is available, as the other overload does. */
	void runUntilDone(CompletableFuture<?> result, Runnable onInterrupt) {
		runUntilDone(() -> {
		}, result, onInterrupt);
	}

	/**
	 * Runs steps until a result is available. An interrupt does not end the wait. It runs
	 * the callback once, and the interrupt flag is set again at the end.
	 * @param first the first step
	 */
	void runUntilDone(Runnable first, CompletableFuture<?> result, Runnable onInterrupt) {
		boolean interrupted = false;
		try {
			first.run();
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
	 * Consumes the permit of another thread that unparks this one, now or in a moment.
	 * This thread is not parked, so the permit must not remain.
	 */
	private void takePermit() {
		if (Thread.interrupted()) {
			// the permit may already be consumed
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

	/** State of the waiting thread. */
	private enum State {

		RUNNING, PARKED, UNPARKED

	}

}
