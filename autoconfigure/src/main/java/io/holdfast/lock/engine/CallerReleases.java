package io.holdfast.lock.engine;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.LockBackend;

/**
 * Lets the thread that closes a hold send the release to a blocking backend. Otherwise, a
 * worker sends it: the next caller of the lock then waits until that worker runs, and two
 * switches of threads cost more than a fast store.
 *
 * <p>
 * The release is sent at the end, when the close has restored what it had set aside. Only
 * then is it known whether the thread has a connection that the release may wait for.
 */
final class CallerReleases {

	private static final ThreadLocal<@Nullable Deque<Runnable>> COLLECTED = new ThreadLocal<>();

	private CallerReleases() {
	}

	/**
	 * Closes a hold, and then sends the releases that this has requested.
	 * @param backend the backend of the hold; one that does not block sends them at once
	 */
	static <T> T close(LockBackend backend, Supplier<T> closing) {
		if (!backend.capabilities().has(Capability.BLOCKING)) {
			return closing.get();
		}
		Deque<Runnable> outer = COLLECTED.get();
		Deque<Runnable> releases = new ArrayDeque<>(2);
		COLLECTED.set(releases);
		try {
			return closing.get();
		}
		finally {
			COLLECTED.set(outer);
			releases.forEach(Runnable::run);
		}
	}

	/**
	 * Adds a release to the close that runs on this thread.
	 * @return {@code false} if there is none, so that a worker must send the release
	 */
	static boolean add(Runnable release) {
		Deque<Runnable> releases = COLLECTED.get();
		return releases != null && releases.add(release);
	}

}
