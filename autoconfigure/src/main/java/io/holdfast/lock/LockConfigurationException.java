package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a lock is used in a way that can never work: a bad name, key or duration,
 * an annotation on a method that cannot be intercepted, something that the store cannot
 * do. Wherever it can be known, it is thrown while the application starts.
 */
public class LockConfigurationException extends LockException {

	/**
	 * Create one.
	 * @param message fact, state and remedy
	 */
	public LockConfigurationException(String message) {
		this(message, null);
	}

	/**
	 * Create one with its cause.
	 * @param message fact, state and remedy
	 * @param cause what led to it, or {@code null}
	 */
	public LockConfigurationException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
