package io.holdfast.lock.backend.redis;

import java.util.Queue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.holdfast.lock.support.Stages;

/**
 * Sends pipelines, at most some at a time. Otherwise the response timeout of the last one
 * of many would start long before Redis can read it.
 */
final class LettucePipelines {

	private static final int AT_A_TIME = 8;

	private final Queue<Supplier<CompletionStage<Void>>> waiting = new ConcurrentLinkedQueue<>();

	private final AtomicInteger inProgress = new AtomicInteger();

	/** Number of calls of {@link #sendNext()} that the running one still has to serve. */
	private final AtomicInteger calls = new AtomicInteger();

	/**
	 * Sends a pipeline once there is room for it.
	 * @param pipeline sends the requests, and completes when all have ended
	 */
	void send(Supplier<CompletionStage<Void>> pipeline) {
		this.waiting.add(pipeline);
		sendNext();
	}

	/** A loop instead of a recursion: without a connection, pipelines end at once. */
	private void sendNext() {
		if (this.calls.getAndIncrement() > 0) {
			return;
		}
		do {
			while (this.inProgress.get() < AT_A_TIME) {
				Supplier<CompletionStage<Void>> next = this.waiting.poll();
				if (next == null) {
					break;
				}
				this.inProgress.incrementAndGet();
				Stages.attempt(next).whenComplete((nothing, failure) -> {
					this.inProgress.decrementAndGet();
					sendNext();
				});
			}
		}
		while (this.calls.decrementAndGet() > 0);
	}

}
