package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the lease was lost while its holder still relied on it. A transaction that
 * meets this rolls back; without one, what the body did outside may have met another
 * holder's work.
 */
public class LockLostException extends LockException {

	/**
	 * Create one.
	 * @param message fact, state and remedy
	 */
	public LockLostException(String message) {
		this(message, null);
	}

	/**
	 * Create one with its cause.
	 * @param message fact, state and remedy
	 * @param cause what led to it, or {@code null}
	 */
	public LockLostException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
