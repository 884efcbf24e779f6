package io.holdfast.lock.engine;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * Runs the steps of one acquisition one after another, each in a phase, and knows for how
 * long the acquisition waits. The end of a phase discards all steps that are scheduled in
 * it. A late timer or signal therefore has no effect.
 *
 * <p>
 * Any thread may call {@link #run}. Only steps may call the other methods.
 */
abstract class StepScheduler extends WaitTime {

	private static final Runnable NOTHING = () -> {
	};

	private final Executor executor;

	private int phase;

	private Runnable cancelTimer = NOTHING;

	/**
	 * Creates a scheduler.
	 * @param startedAt when the acquisition started
	 * @param nanos how long it waits
	 * @param executor runs the steps one after another
	 */
	StepScheduler(SchedulingClock time, long startedAt, long nanos, Executor executor) {
		super(time, startedAt, nanos);
		this.executor = executor;
	}

	/** Handles the exception of a step, so that no caller hangs. */
	abstract void failed(Throwable failure);

	/** Returns the thread that waits and runs the steps meanwhile, if there is one. */
	@Nullable Thread caller() {
		return (this.executor instanceof CallerThreadExecutor waiting) ? waiting.caller() : null;
	}

	/** Runs a step in any phase. */
	void run(Runnable step) {
		this.executor.execute(() -> runHere(step));
	}

	/** Runs a step on the calling thread, which must be the one that runs all steps. */
	void runHere(Runnable step) {
		try {
			step.run();
		}
		catch (RuntimeException | Error ex) {
			failed(ex);
		}
	}

	/** Ends the current phase and starts the next one. */
	void nextPhase() {
		this.phase++;
		this.cancelTimer.run();
		this.cancelTimer = NOTHING;
	}

	int phase() {
		return this.phase;
	}

	/**
	 * Returns a task that runs the step if the current phase still lasts. Any thread may
	 * run the task.
	 */
	Runnable inThisPhase(Runnable step) {
		int current = this.phase;
		return () -> runIn(current, step);
	}

	/** Runs a step if the phase still lasts. Any thread may call this. */
	void runIn(int phase, Runnable step) {
		run(() -> {
			if (phase == this.phase) {
				step.run();
			}
		});
	}

	/**
	 * Runs a step after a delay, if the current phase still lasts. Replaces the step that
	 * was scheduled before.
	 */
	void after(long nanos, Runnable step) {
		this.cancelTimer.run();
		this.cancelTimer = this.time.after(nanos, inThisPhase(step));
	}

	/**
	 * Runs the steps of one acquisition one after another on shared threads, so that no
	 * step needs a lock.
	 */
	static final class SerialExecutor implements Executor {

		private final Executor threads;

		private final Queue<Runnable> steps = new ConcurrentLinkedQueue<>();

		private final AtomicInteger pending = new AtomicInteger();

		SerialExecutor(Executor threads) {
			this.threads = threads;
		}

		@Override
		public void execute(Runnable step) {
			this.steps.add(step);
			if (this.pending.getAndIncrement() == 0) {
				this.threads.execute(this::runSteps);
			}
		}

		private void runSteps() {
			do {
				Runnable step = this.steps.poll();
				if (step != null) {
					step.run();
				}
			}
			while (this.pending.decrementAndGet() > 0);
		}

	}

}
