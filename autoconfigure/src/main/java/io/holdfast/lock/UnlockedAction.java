package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * An action that runs instead if a lock was not acquired.
 *
 * @param <T> the type of the result
 * @param <E> the type of the exception that the action throws
 */
@FunctionalInterface
public interface UnlockedAction<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Runs the action without the lock.
	 * @param reason the reason why the lock was not acquired
	 * @return the result
	 * @throws E if the action fails
	 */
	T run(LockNotAcquiredException reason) throws E;

}
