package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * The root of everything that Holdfast throws. Each message states the fact, the state
 * and the remedy.
 *
 * <p>
 * None of them is a Spring {@code TransactionException}: on one of those a transaction
 * manager would not simply roll back.
 */
public abstract class LockException extends RuntimeException {

	/**
	 * Create one.
	 * @param message fact, state and remedy
	 * @param cause what led to it, or {@code null}
	 */
	protected LockException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
