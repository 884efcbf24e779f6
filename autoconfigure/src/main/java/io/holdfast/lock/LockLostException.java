package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * Thrown when the lease was lost while its holder still relied on it. The holder's
 * transaction rolls back. Without a transaction, side effects of the body may overlap
 * with those of another holder.
 */
public class LockLostException extends LockException {

	/**
	 * Creates an exception.
	 * @param lock the lock that was lost, or {@code null} if unknown
	 * @param backend the name of the backend, or {@code null} if unknown
	 * @param message fact, state and remedy
	 */
	public LockLostException(@Nullable LockName lock, @Nullable String backend, String message) {
		super(lock, backend, message, null);
	}

}
