package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockException;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.support.DurationText;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.GuardedLog;
import io.holdfast.lock.support.SchedulingClock;

/**
 * Retries the requests that one store has not confirmed, oldest first. At most
 * {@value #MOST_UNDER_WAY} are in progress at a time, so that a recovering store is not
 * overloaded. Each failure pauses all of them. A request that the store rejects has its
 * own, growing backoff, because only an operator can resolve the rejection. It is not
 * given up, because the lock may remain for as long as the client's session. Thread-safe.
 */
final class Retries {

	private static final GuardedLog logger = GuardedLog.of(Retries.class);

	private static final int MOST_UNDER_WAY = 64;

	/** With more of them, no further lock is requested. */
	static final int MOST_UNCONFIRMED = 10_000;

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(2);

	/** Maximum retry interval of a rejected request. */
	static final Duration LONGEST_REST = Duration.ofMinutes(1);

	private final String backend;

	private final SchedulingClock time;

	private final ReentrantLock lock = new ReentrantLock();

	private final Deque<Request> waiting = new ArrayDeque<>();

	private final AtomicInteger pendingSends = new AtomicInteger();

	private int underWay;

	private int resting;

	private boolean pausing;

	/** Whether a warning was logged that the store rejects requests. */
	private boolean warned;

	/** Whether a warning was logged in this outage that a request was never confirmed. */
	private boolean warnedOfEnd;

	private long pause = FIRST_PAUSE;

	private boolean closed;

	Retries(String backend, SchedulingClock time) {
		this.backend = backend;
		this.time = time;
	}

	/** Whether so many requests are unconfirmed that the store must not be asked more. */
	boolean isFull() {
		this.lock.lock();
		try {
			return unconfirmed() >= MOST_UNCONFIRMED;
		}
		finally {
			this.lock.unlock();
		}
	}

	private int unconfirmed() {
		return this.waiting.size() + this.underWay + this.resting;
	}

	/** Adds a request whose first response was not a confirmation. */
	void add(Request request, Object answer) {
		boolean first;
		this.lock.lock();
		try {
			if (this.closed) {
				return;
			}
			first = this.waiting.isEmpty() && this.underWay == 0;
			if (first) {
				this.warnedOfEnd = false;
			}
			repeatLater(request, answer);
		}
		finally {
			this.lock.unlock();
		}
		String message = "The %s was not confirmed by backend %s (%s) and is retried.".formatted(request, this.backend,
				text(answer));
		if (first && !request.isRefused(answer)) {
			logger.info(message);
		}
		else {
			logger.debug(message);
		}
	}

	/**
	 * Records the response to a retried request.
	 * @param answer the response or failure, or {@code null} for a confirmation
	 */
	void answered(Request request, @Nullable Object answer) {
		this.lock.lock();
		try {
			this.underWay--;
			if (answer == null) {
				this.pause = FIRST_PAUSE;
				this.warned = false;
			}
			else if (!this.closed) {
				repeatLater(request, answer);
			}
		}
		finally {
			this.lock.unlock();
		}
		sendMore();
	}

	private void repeatLater(Request request, Object answer) {
		if (!request.isRefused(answer)) {
			this.waiting.addLast(request);
			pause();
			return;
		}
		this.time.after(request.nextRest(), () -> rested(request));
		this.resting++;
		if (!this.warned) {
			this.warned = true;
			logger.warn(
					"Backend %s rejects the %s (%s). It is retried at growing intervals of up to %s, because the store may keep the lock for as long as this application runs. Further rejections are logged at DEBUG."
						.formatted(this.backend, request, text(answer), DurationText.of(LONGEST_REST)));
		}
	}

	private static String text(Object answer) {
		Object failure = (answer instanceof ReleaseResult.Indeterminate unknown) ? unknown.cause() : answer;
		if (failure instanceof LockException ours) {
			return String.valueOf(ours.getMessage());
		}
		return (failure instanceof Throwable cause) ? Failures.rootMessage(cause) : failure.toString();
	}

	private void rested(Request request) {
		this.lock.lock();
		try {
			if (this.closed) {
				return;
			}
			this.resting--;
			this.waiting.addLast(request);
		}
		finally {
			this.lock.unlock();
		}
		sendMore();
	}

	private void pause() {
		if (!this.pausing) {
			this.time.after(this.pause, this::proceed);
			this.pausing = true;
			this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
		}
	}

	private void proceed() {
		this.lock.lock();
		try {
			this.pausing = false;
		}
		finally {
			this.lock.unlock();
		}
		sendMore();
	}

	/** One caller sends for all, because a response can arrive during a send. */
	private void sendMore() {
		if (this.pendingSends.getAndIncrement() > 0) {
			return;
		}
		try {
			do {
				this.pendingSends.set(1);
				Request next;
				while ((next = next()) != null) {
					next.sendAgain();
				}
			}
			while (this.pendingSends.decrementAndGet() > 0);
		}
		catch (RuntimeException | Error ex) {
			// the next caller sends the others
			this.pendingSends.set(0);
			throw ex;
		}
	}

	private @Nullable Request next() {
		this.lock.lock();
		try {
			while (!this.pausing && this.underWay < MOST_UNDER_WAY) {
				Request next = this.waiting.pollFirst();
				if (next == null) {
					return null;
				}
				if (this.time.nanos() < next.deadline()) {
					this.underWay++;
					return next;
				}
				next.over();
				logEnd(next);
			}
			return null;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** In an outage, each failed acquisition of an application ends here. */
	private void logEnd(Request request) {
		String message = "The %s was never confirmed by backend %s. Any remaining lock has expired with its lease."
			.formatted(request, this.backend);
		if (!this.warnedOfEnd) {
			this.warnedOfEnd = true;
			logger.warn(message + " Further ones of this outage are logged at DEBUG.");
		}
		else {
			logger.debug(message);
		}
	}

	/** Stops all retries. */
	void close() {
		this.lock.lock();
		try {
			this.closed = true;
			int left = unconfirmed();
			if (left > 0) {
				logger.warn(
						"Number of releases and withdrawals that backend %s had not confirmed when the application stopped: %s. Remaining locks expire with their leases or with the session of the client."
							.formatted(this.backend, left));
			}
			this.waiting.clear();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * A request to retry. Its text names it in messages.
	 */
	abstract static class Request {

		private long rest = FIRST_PAUSE;

		/** Returns when the store holds no more state of it, on the engine's clock. */
		abstract long deadline();

		/** Sends the request; {@link Retries#answered} is called once for it. */
		abstract void sendAgain();

		/** Called when the request is no longer retried. */
		abstract void over();

		/** Whether the store would respond in the same way if asked again soon. */
		abstract boolean isRefused(Object answer);

		private long nextRest() {
			long next = this.rest;
			this.rest = Math.min(2 * next, LONGEST_REST.toNanos());
			return next;
		}

	}

}
