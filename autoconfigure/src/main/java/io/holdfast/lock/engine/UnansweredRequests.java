package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;

import io.holdfast.lock.support.SchedulingClock;

/**
 * The requests whose first response a closing engine awaits before the clients of the
 * stores close. Otherwise a lock could stay for its whole lease. Thread-safe.
 */
final class UnansweredRequests {

	private static final Log logger = LogFactory.getLog(UnansweredRequests.class);

	private static final long GRACE = TimeUnit.MILLISECONDS.toNanos(500);

	private final SchedulingClock time;

	private final long responseTimeout;

	private final AtomicInteger number = new AtomicInteger();

	/** Completes at shutdown, when every request has its first response. */
	private final CompletableFuture<Void> allAnswered = new CompletableFuture<>();

	private volatile boolean awaited;

	UnansweredRequests(SchedulingClock time, Duration responseTimeout) {
		this.time = time;
		this.responseTimeout = responseTimeout.toNanos();
	}

	/** Counts a request, before it is sent. */
	void sent() {
		this.number.incrementAndGet();
	}

	/** Counts the first response to a request, or the failure to get one. */
	void answered() {
		if (this.number.decrementAndGet() == 0 && this.awaited) {
			this.allAnswered.complete(null);
		}
	}

	/**
	 * Counts an attempt whose claim is withdrawn before its response, for at most the
	 * response timeout. If the attempt is granted after all, another withdrawal follows.
	 * @return to be run when the response has been processed
	 */
	Runnable sentBefore() {
		AtomicBoolean over = new AtomicBoolean();
		Runnable end = () -> {
			if (over.compareAndSet(false, true)) {
				answered();
			}
		};
		sent();
		Runnable cancel = this.time.after(this.responseTimeout, end);
		return () -> {
			cancel.run();
			end.run();
		};
	}

	/**
	 * Waits for all responses, but at most as long as a request that follows a renewal in
	 * progress may take. A blocking backend may take longer than that, for example while
	 * a connection pool waits for its database.
	 */
	void await() {
		Runnable cancel = this.time.after(2 * this.responseTimeout + GRACE, () -> {
			if (this.allAnswered.complete(null)) {
				logger.warn(
						"At shutdown, the store did not respond in time to %s requests that end holds or claims. Their locks expire with their leases."
							.formatted(this.number));
			}
		});
		this.awaited = true;
		if (this.number.get() == 0) {
			this.allAnswered.complete(null);
		}
		this.allAnswered.join();
		cancel.run();
	}

}
