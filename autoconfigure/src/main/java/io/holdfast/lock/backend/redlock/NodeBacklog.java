package io.holdfast.lock.backend.redlock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Keeps the backlog of a node that does not respond short. No caller waits for such a
 * node, so nothing else limits how many requests are sent to it. It would have to read
 * them all before it responds in time again, and a connection that is full of them may
 * become so slow that the node never does.
 *
 * <p>
 * A node is silent if a request has ended without a response after the node timeout. It
 * then gets a limited number of further requests, which includes the releases of what it
 * has granted, and after that one at a time. The first response ends the limit.
 * Thread-safe.
 */
final class NodeBacklog {

	/** The most requests to a silent node, before each one awaits the end of another. */
	static final int MOST_WHILE_SILENT = 1_000;

	private final SchedulingClock clock;

	private final long nodeTimeout;

	private final AtomicInteger sentWhileSilent = new AtomicInteger();

	/** Whether the one request at a time is under way. */
	private final AtomicBoolean probed = new AtomicBoolean();

	private volatile boolean silent;

	NodeBacklog(SchedulingClock clock, Duration nodeTimeout) {
		this.clock = clock;
		this.nodeTimeout = nodeTimeout.toNanos();
	}

	/**
	 * Sends a request, unless the node is silent and has a backlog.
	 * @param request sends the request
	 * @return the response, or a failure if the request was not sent or throws
	 */
	<T> CompletionStage<T> send(Supplier<CompletionStage<T>> request) {
		boolean probes = false;
		if (this.silent && this.sentWhileSilent.incrementAndGet() > MOST_WHILE_SILENT) {
			probes = this.probed.compareAndSet(false, true);
			if (!probes) {
				return CompletableFuture.failedStage(new NotSentException("no response to earlier requests"));
			}
		}
		return follow(Stages.attempt(request), probes);
	}

	private <T> CompletionStage<T> follow(CompletionStage<T> response, boolean probes) {
		long sentAt = this.clock.nanos();
		return response.whenComplete((value, failure) -> {
			if (failure == null) {
				this.silent = false;
			}
			else if (!this.silent && this.clock.nanos() - sentAt >= this.nodeTimeout) {
				this.sentWhileSilent.set(0);
				this.silent = true;
			}
			if (probes) {
				this.probed.set(false);
			}
		});
	}

}
