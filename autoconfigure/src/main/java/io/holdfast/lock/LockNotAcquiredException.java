package io.holdfast.lock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the lock was not acquired within the {@code waitTime}, or when waiting
 * ended early. The body did not run and nothing is held. Retrying later is safe.
 */
public class LockNotAcquiredException extends LockException {

	// A mock of Mockito throws an instance that was created without its constructor.

	private final @Nullable Duration waited;

	private final @Nullable Reason reason;

	/**
	 * Creates an exception.
	 * @param lock the lock, or {@code null} if unknown
	 * @param backend the name of the backend, or {@code null} if unknown
	 * @param waited how long the caller waited
	 * @param reason why waiting ended
	 * @param message fact, state and remedy
	 */
	public LockNotAcquiredException(@Nullable LockName lock, @Nullable String backend, Duration waited, Reason reason,
			String message) {
		super(lock, backend, message, null);
		this.waited = waited;
		this.reason = reason;
	}

	/**
	 * Returns how long the caller waited for the lock.
	 * @return the time from the request until this failure
	 */
	public Duration waited() {
		return (this.waited != null) ? this.waited : Duration.ZERO;
	}

	/**
	 * Returns why the lock was not acquired.
	 * @return the reason
	 */
	public Reason reason() {
		return (this.reason != null) ? this.reason : Reason.HELD;
	}

	/**
	 * The reason why a lock was not acquired.
	 */
	public enum Reason {

		/** Another holder kept the lock for the whole wait. */
		HELD,

		/** The waiting thread was interrupted, or the waiting future was cancelled. */
		INTERRUPTED,

		/** The application is stopping and acquires no more locks. */
		STOPPING

	}

}
