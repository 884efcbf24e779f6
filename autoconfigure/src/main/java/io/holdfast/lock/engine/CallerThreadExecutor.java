package io.holdfast.lock.engine;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

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

	private static final int RUNNING = 0;

	private static final int PARKED = 1;

	private static final int UNPARKED = 2;

	private static final AtomicIntegerFieldUpdater<CallerThreadExecutor> STATE = AtomicIntegerFieldUpdater
		.newUpdater(CallerThreadExecutor.class, "state");

	/** Created for the first step that another one does not simply continue. */
	private volatile @Nullable Queue<Runnable> steps;

	/** State of the waiting thread. */
	private volatile int state;

	private volatile boolean ended;

	/** Returns the thread that waits. */
	Thread caller() {
		return this.caller;
	}

	@Override
	public void execute(Runnable step) {
		queue().add(step);
		if (this.ended) {
			runSteps();
		}
		else if (STATE.compareAndSet(this, PARKED, UNPARKED)) {
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
		this.state = PARKED;
		boolean woken = false;
		while (queue().isEmpty() && !this.caller.isInterrupted() && this.state == PARKED) {
			LockSupport.park(this);
			woken = this.state != PARKED;
		}
		if (!STATE.compareAndSet(this, PARKED, RUNNING)) {
			if (!woken || this.caller.isInterrupted()) {
				takePermit();
			}
			this.state = RUNNING;
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
		Queue<Runnable> present = this.steps;
		if (present != null) {
			for (Runnable step = present.poll(); step != null; step = present.poll()) {
				step.run();
			}
		}
	}

	private Queue<Runnable> queue() {
		Queue<Runnable> present = this.steps;
		if (present == null) {
			synchronized (this) {
				present = (this.steps != null) ? this.steps : new ConcurrentLinkedQueue<>();
				this.steps = present;
			}
		}
		return present;
	}

}
