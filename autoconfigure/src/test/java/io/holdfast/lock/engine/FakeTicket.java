package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * The ticket of a caller whose steps a test runs or ignores.
 */
final class FakeTicket extends LocalWaitQueues.Ticket {

	private final Executor steps;

	private final Runnable onAdmitted;

	FakeTicket(LocalWaitQueues queues, ResolvedRequest request, long startedAt, Executor steps, Runnable onAdmitted) {
		super(queues, request, startedAt, Duration.ZERO);
		this.steps = steps;
		this.onAdmitted = onAdmitted;
	}

	@Override
	void run(Runnable step) {
		this.steps.execute(step);
	}

	@Override
	void onAdmitted() {
		this.onAdmitted.run();
	}

}
