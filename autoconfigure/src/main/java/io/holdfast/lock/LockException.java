package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * Base class of all exceptions that Holdfast throws. Each message states the fact, the
 * state and the remedy.
 *
 * <p>
 * None of them extends Spring's {@code TransactionException}, because a transaction
 * manager does not simply roll back on those.
 */
public abstract class LockException extends RuntimeException {

	private final transient @Nullable LockName lock;

	private final @Nullable String backend;

	/**
	 * Creates an exception that concerns no lock in particular.
	 * @param message fact, state and remedy
	 * @param cause the cause, or {@code null}
	 */
	protected LockException(String message, @Nullable Throwable cause) {
		this(null, null, message, cause);
	}

	/**
	 * Creates an exception about a lock.
	 * @param lock the lock, or {@code null} if it concerns none in particular
	 * @param backend the name of the backend, or {@code null} if it concerns none
	 * @param message fact, state and remedy
	 * @param cause the cause, or {@code null}
	 */
	protected LockException(@Nullable LockName lock, @Nullable String backend, String message,
			@Nullable Throwable cause) {
		super(message, cause);
		this.lock = lock;
		this.backend = backend;
	}

	/**
	 * Returns the lock that the failure concerns.
	 * @return the lock, or {@code null} if it concerns none in particular
	 */
	public @Nullable LockName lock() {
		return this.lock;
	}

	/**
	 * Returns the name of the backend of the lock.
	 * @return the name, such as {@code redis}, or {@code null} if it concerns none
	 */
	public @Nullable String backend() {
		return this.backend;
	}

}
