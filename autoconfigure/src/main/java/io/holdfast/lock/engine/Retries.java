package io.holdfast.lock.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;

import org.apache.commons.logging.Log;
import org.apache.commons.logging.LogFactory;
import org.jspecify.annotations.Nullable;

import io.holdfast.lock.support.SchedulingClock;

/**
 * Repeats the requests that one store has not confirmed, the oldest first. At most
 * {@value #MOST_UNDER_WAY} are under way at a time and the rest waits, so that a store
 * that was away is not overrun when it is back. Each failure makes all of them pause.
 * Thread-safe.
 */
final class Retries {

	private static final Log logger = LogFactory.getLog(Retries.class);

	private static final int MOST_UNDER_WAY = 64;

	private static final long FIRST_PAUSE = TimeUnit.MILLISECONDS.toNanos(100);

	private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(2);

	private final String store;

	private final SchedulingClock time;

	private final ReentrantLock lock = new ReentrantLock();

	private final Deque<Request> waiting = new ArrayDeque<>();

	private final AtomicInteger wishes = new AtomicInteger();

	private int underWay;

	private boolean pausing;

	private long pause = FIRST_PAUSE;

	private boolean closed;

	Retries(String store, SchedulingClock time) {
		this.store = store;
		this.time = time;
	}

	/** Adds a request whose first answer was no confirmation. */
	void add(Request request, Object answer) {
		boolean first;
		this.lock.lock();
		try {
			if (this.closed) {
				return;
			}
			first = this.waiting.isEmpty() && this.underWay == 0;
			this.waiting.addLast(request);
			pause();
		}
		finally {
			this.lock.unlock();
		}
		String message = "The %s was not confirmed by store %s (%s) and is sent again.".formatted(request, this.store,
				answer);
		if (first) {
			logger.info(message);
		}
		else {
			logger.debug(message);
		}
	}

	/** Takes note that a repeated request was answered. */
	void answered(Request request, boolean confirmed) {
		this.lock.lock();
		try {
			this.underWay--;
			if (confirmed) {
				this.pause = FIRST_PAUSE;
			}
			else if (!this.closed) {
				this.waiting.addLast(request);
				pause();
			}
		}
		finally {
			this.lock.unlock();
		}
		sendMore();
	}

	private void pause() {
		if (!this.pausing) {
			this.pausing = true;
			this.time.after(this.pause, this::goOn);
			this.pause = Math.min(2 * this.pause, LONGEST_PAUSE);
		}
	}

	private void goOn() {
		this.lock.lock();
		try {
			this.pausing = false;
		}
		finally {
			this.lock.unlock();
		}
		sendMore();
	}

	/** An answer can arrive while its request is sent: one caller then sends for all. */
	private void sendMore() {
		if (this.wishes.getAndIncrement() > 0) {
			return;
		}
		do {
			this.wishes.set(1);
			Request next;
			while ((next = next()) != null) {
				next.sendAgain();
			}
		}
		while (this.wishes.decrementAndGet() > 0);
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
				logger.warn("The %s was never confirmed by store %s. What it left there has ended with its lease."
					.formatted(next, this.store));
			}
			return null;
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Repeats nothing any more. */
	void close() {
		this.lock.lock();
		try {
			this.closed = true;
			int left = this.waiting.size() + this.underWay;
			if (left > 0) {
				logger.warn(
						"%d releases and withdrawals were not confirmed by store %s when the application stopped. What they left there ends with its lease or with the session of the client."
							.formatted(left, this.store));
			}
			this.waiting.clear();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * What is repeated. Its text names it in messages.
	 */
	interface Request {

		/** When nothing can be left at the store, on the engine's clock. */
		long deadline();

		/** Sends it; {@link Retries#answered} is called once for that. */
		void sendAgain();

	}

}
