package io.holdfast.lock.engine;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Runs the steps of one acquisition one after another on shared threads, so that no step
 * needs a lock.
 */
final class SerialExecutor implements Executor {

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
