package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when another holder kept the lock for the whole {@code waitTime}. The body did
 * not run and nothing is held; to try again later is safe.
 */
public class LockNotAcquiredException extends LockException {

	/**
	 * Create one.
	 * @param message fact, state and remedy
	 */
	public LockNotAcquiredException(String message) {
		this(message, null);
	}

	/**
	 * Create one with its cause.
	 * @param message fact, state and remedy
	 * @param cause what led to it, or {@code null}
	 */
	public LockNotAcquiredException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
