package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.SchedulingClock;
import io.holdfast.lock.support.Threads;

/**
 * The requests whose confirmation a closing engine awaits before the clients of the
 * stores close. Otherwise a lock could stay for its whole lease. A request that the store
 * rejects or does not confirm until the lease has expired is over as well. Thread-safe.
 */
final class UnconfirmedRequests {

	private static final GuardedLog logger = GuardedLog.of(UnconfirmedRequests.class);

	private static final long GRACE = TimeUnit.MILLISECONDS.toNanos(500);

	private final SchedulingClock time;

	private final long responseTimeout;

	private final AtomicInteger number = new AtomicInteger();

	/** Completes at shutdown, when every request is over. */
	private final CompletableFuture<Void> allOver = new CompletableFuture<>();

	private volatile boolean awaited;

	UnconfirmedRequests(SchedulingClock time, Duration responseTimeout) {
		this.time = time;
		this.responseTimeout = responseTimeout.toNanos();
	}

	/** Counts a request, before it is sent. */
	void sent() {
		this.number.incrementAndGet();
	}

	/** Counts the end of a request. */
	void over() {
		if (this.number.decrementAndGet() == 0 && this.awaited) {
			this.allOver.complete(null);
		}
	}

	/**
	 * Counts an attempt whose claim is withdrawn before its response, for at most the
	 * response timeout. If the attempt is granted after all, another withdrawal follows.
	 * @return to be run when the response has been processed
	 */
	Runnable countUntilAnswered() {
		AtomicBoolean ended = new AtomicBoolean();
		Runnable end = () -> {
			if (ended.compareAndSet(false, true)) {
				over();
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
	 * Waits until all requests are over, but at most as long as two of them take without
	 * a response: a renewal in progress and the release that follows it, or a release and
	 * its retry. A blocking backend may take longer than that, for example while a
	 * connection pool waits for its database.
	 */
	void await() {
		long limit = 2 * this.responseTimeout + GRACE;
		Runnable cancel = this.time.after(limit, this::giveUp);
		this.awaited = true;
		if (this.number.get() == 0) {
			this.allOver.complete(null);
		}
		// a listener that ends the JVM blocks the thread on which it runs, perhaps that
		// of the clock
		Threads.await(this.allOver, Duration.ofNanos(limit + GRACE));
		cancel.run();
		giveUp();
	}

	private void giveUp() {
		if (this.allOver.complete(null)) {
			logger.warn(
					"At shutdown, stores did not confirm in time %s requests that end holds or claims. Their locks expire with their leases."
						.formatted(this.number));
		}
	}

}
