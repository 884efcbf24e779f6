package io.holdfast.lock.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.support.Failures;

/**
 * Lets the thread that closes a hold send the release to a blocking backend, or the
 * question whether its lease may pass on further. Otherwise, a worker sends a release:
 * the next caller of the lock then waits until that worker runs, and two switches of
 * threads cost more than a fast store.
 *
 * <p>
 * The request is sent at the end, when the close has restored what it had set aside. Only
 * then is it known whether the thread has a connection that the request may wait for.
 */
final class CallerRequests {

	private static final ThreadLocal<@Nullable Requests> COLLECTED = new ThreadLocal<>();

	private CallerRequests() {
	}

	/**
	 * Closes a hold, and then sends the requests that this has collected.
	 * @param backend the backend of the hold; one that does not block collects none
	 */
	static <T> T close(LockBackend backend, Supplier<T> closing) {
		if (!backend.capabilities().has(Capability.BLOCKING)) {
			return closing.get();
		}
		Requests outer = COLLECTED.get();
		Requests requests = new Requests(new ArrayDeque<>(2), new ArrayDeque<>(2));
		COLLECTED.set(requests);
		try {
			return closing.get();
		}
		finally {
			COLLECTED.set(outer);
			requests.releases().forEach(Runnable::run);
			requests.questions().forEach(Runnable::run);
		}
	}

	/**
	 * Adds a release to the close that runs on this thread.
	 * @return {@code false} if there is none, so that a worker must send the release
	 */
	static boolean add(Runnable release) {
		Requests requests = COLLECTED.get();
		return requests != null && requests.releases().add(release);
	}

	/**
	 * Adds a question to the close that runs on this thread. It follows all releases,
	 * whose locks other callers wait for. Without a close, this thread must not ask, so
	 * the question is dropped.
	 */
	static void addQuestion(Runnable question) {
		Requests requests = COLLECTED.get();
		if (requests != null) {
			requests.questions().add(question);
		}
	}

	/**
	 * Returns whether this thread may send a request. An interrupt would break it. A
	 * backend that throws objects, because the request must not be lost.
	 * @param allows whether the backend allows it
	 */
	static boolean maySend(BooleanSupplier allows) {
		try {
			return !Thread.currentThread().isInterrupted() && allows.getAsBoolean();
		}
		catch (Throwable ex) {
			// Kotlin throws checked exceptions undeclared
			Failures.keepInterrupt(ex);
			return false;
		}
	}

	/**
	 * The requests of one close.
	 *
	 * @param releases send releases
	 * @param questions ask whether leases may pass on further
	 */
	private record Requests(Deque<Runnable> releases, Deque<Runnable> questions) {
	}

}
