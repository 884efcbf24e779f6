package io.holdfast.lock.backend.zookeeper;

import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Stages;

/**
 * Reads wait queues for claims that are in them. A response names all claims of a queue,
 * and thousands of them may ask again or give up at the same moment. So there is one read
 * of a queue at a time, unless its response takes long. The claims that come meanwhile
 * share the next one: a read that was sent before may be outdated for them. Thread-safe.
 */
final class QueueReads {

	/**
	 * How long a read delays the next one at most. The client repeats a read after a
	 * broken connection, but may pause for many seconds before that. Claims that ask
	 * meanwhile must not wait for it once the connection is restored.
	 */
	private static final long LONGEST_DELAY = TimeUnit.MILLISECONDS.toNanos(500);

	private final Function<String, CompletableFuture<List<QueueNodeName>>> request;

	private final SchedulingClock clock;

	/** The latest read of each wait queue that is being read. */
	private final Map<String, Read> latest = new ConcurrentHashMap<>();

	/**
	 * Creates the reads.
	 * @param request reads a wait queue
	 * @param clock limits how long a read delays the next one
	 */
	QueueReads(Function<String, CompletableFuture<List<QueueNodeName>>> request, SchedulingClock clock) {
		this.request = request;
		this.clock = clock;
	}

	/** Returns a wait queue as it is at a moment after this call. */
	CompletableFuture<List<QueueNodeName>> read(String queue) {
		Read fresh = new Read();
		Read read = this.latest.compute(queue, (key, last) -> (last == null || last.sent) ? fresh.after(last) : last);
		if (read == fresh) {
			// an error, such as one of too little memory, must not leave it unsent
			Stages.attempt(this::turn, fresh).whenComplete((turn, failure) -> send(queue, fresh));
		}
		return read.result;
	}

	/** Completes when a read may be sent. */
	private CompletableFuture<Void> turn(Read read) {
		CompletableFuture<Void> turn = new CompletableFuture<>();
		read.previous.whenComplete((names, failure) -> turn.complete(null));
		if (!turn.isDone()) {
			Runnable cancel = this.clock.after(LONGEST_DELAY, () -> turn.complete(null));
			turn.thenRun(cancel);
		}
		return turn;
	}

	private void send(String queue, Read read) {
		this.latest.computeIfPresent(queue, (key, last) -> read.sent());
		Stages.attempt(this.request, queue).whenComplete((names, failure) -> {
			this.latest.remove(queue, read);
			Stages.settle(read.result, names, failure);
		});
	}

	/** A read, which claims may share until it is sent. */
	private static final class Read {

		final CompletableFuture<List<QueueNodeName>> result = new CompletableFuture<>();

		private CompletableFuture<?> previous = CompletableFuture.completedFuture(null);

		/** Changed while the map computes the entry of the queue. */
		private boolean sent;

		Read after(@Nullable Read last) {
			if (last != null) {
				this.previous = last.result;
			}
			return this;
		}

		Read sent() {
			this.sent = true;
			return this;
		}

	}

}
