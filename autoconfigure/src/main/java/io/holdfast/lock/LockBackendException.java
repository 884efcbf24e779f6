package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store could not be asked, or did not answer in time, or answered with
 * an error. The lock does not count as held, and the claim has been withdrawn as far as
 * the store could be reached; what is left of it ends with its lease.
 *
 * <p>
 * Thrown by {@link LockHandle#assertHeld()}, and by a commit that is refused, when the
 * store cannot make sure of a hold at that moment. That hold is neither lost nor
 * withdrawn.
 */
public class LockBackendException extends LockException {

	/**
	 * Creates an exception that concerns no lock in particular.
	 * @param message fact, state and remedy
	 */
	public LockBackendException(String message) {
		this(message, null);
	}

	/**
	 * Creates an exception with a cause that concerns no lock in particular.
	 * @param message fact, state and remedy
	 * @param cause the cause, or {@code null}
	 */
	public LockBackendException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

	/**
	 * Creates an exception about a lock.
	 * @param lock the lock, or {@code null} if it concerns none in particular
	 * @param backend the name of the backend, or {@code null} if unknown
	 * @param message fact, state and remedy
	 * @param cause the cause, or {@code null}
	 */
	public LockBackendException(@Nullable LockName lock, @Nullable String backend, String message,
			@Nullable Throwable cause) {
		super(lock, backend, message, cause);
	}

}
