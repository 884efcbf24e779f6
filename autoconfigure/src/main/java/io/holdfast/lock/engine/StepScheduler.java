package io.holdfast.lock.engine;

import java.util.concurrent.Executor;
import java.util.function.Consumer;

import io.holdfast.lock.support.SchedulingClock;

/**
 * The order of one acquisition's steps: one after another, each belonging to a phase.
 * When a phase ends, whatever was planned in it is off; so a timer or a signal that comes
 * too late does nothing.
 *
 * <p>
 * {@link #run} may be called by any thread; all else only by a step.
 */
final class StepScheduler {

	private static final Runnable NOTHING = () -> {
	};

	private final SchedulingClock time;

	private final Executor executor;

	private final Consumer<Throwable> onFailure;

	private int phase;

	private Runnable cancelTimer = NOTHING;

	/**
	 * Create the order.
	 * @param executor runs the steps one after another
	 * @param onFailure told of a step that throws: it must not leave a caller waiting
	 */
	StepScheduler(SchedulingClock time, Executor executor, Consumer<Throwable> onFailure) {
		this.time = time;
		this.executor = executor;
		this.onFailure = onFailure;
	}

	/** Run a step, whatever the phase. */
	void run(Runnable step) {
		this.executor.execute(() -> {
			try {
				step.run();
			}
			catch (RuntimeException | Error ex) {
				this.onFailure.accept(ex);
			}
		});
	}

	/** End the present phase and begin the next. */
	void nextPhase() {
		this.phase++;
		this.cancelTimer.run();
		this.cancelTimer = NOTHING;
	}

	int phase() {
		return this.phase;
	}

	/**
	 * A task that runs the step if the present phase still lasts then; for any thread.
	 */
	Runnable inThisPhase(Runnable step) {
		int current = this.phase;
		return () -> run(() -> {
			if (current == this.phase) {
				step.run();
			}
		});
	}

	/**
	 * Run a step later, if the present phase still lasts then; there is one such plan at
	 * a time.
	 */
	void after(long nanos, Runnable step) {
		this.cancelTimer.run();
		this.cancelTimer = this.time.after(nanos, inThisPhase(step));
	}

}
