package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when a lock is used in a way that can never work. Examples are an invalid name,
 * key or duration, an annotation on a method that cannot be intercepted, and a feature
 * that the store does not support. Thrown at application startup wherever the problem can
 * be detected then.
 */
public class LockConfigurationException extends LockException {

	/**
	 * Creates an exception.
	 * @param message fact, state and remedy
	 */
	public LockConfigurationException(String message) {
		this(message, null);
	}

	/**
	 * Creates an exception with a cause.
	 * @param message fact, state and remedy
	 * @param cause the cause, or {@code null}
	 */
	public LockConfigurationException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
