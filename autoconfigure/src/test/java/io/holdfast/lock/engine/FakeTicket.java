package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.Executor;

/**
 * The ticket of a caller whose steps a test runs or ignores.
 */
final class FakeTicket extends LocalWaitQueues.Ticket {

	private final Runnable onAdmitted;

	FakeTicket(LocalWaitQueues queues, ResolvedRequest request, long startedAt, Executor steps, Runnable onAdmitted) {
		super(queues, request, startedAt, Duration.ZERO, steps);
		this.onAdmitted = onAdmitted;
	}

	@Override
	void failed(Throwable failure) {
		throw new IllegalStateException(failure);
	}

	@Override
	void onAdmitted() {
		this.onAdmitted.run();
	}

	@Override
	void timedOut() {
		throw new IllegalStateException("refused");
	}

}
