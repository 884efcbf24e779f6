package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the store could not be reached, did not answer in time, or answered with an
 * error. The lock does not count as held. The claim has been withdrawn as far as the
 * store could be reached; anything left of it expires with its lease.
 *
 * <p>
 * Also thrown by {@link LockHandle#assertHeld()}, and by a commit that is rejected, if
 * the store cannot confirm a hold at that moment. That hold is neither lost nor
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
