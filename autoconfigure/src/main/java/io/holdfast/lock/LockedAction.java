package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * An action that runs while a lock is held.
 *
 * @param <T> the type of the result
 * @param <E> the type of the exception that the action throws
 */
@FunctionalInterface
public interface LockedAction<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Runs the action while the lock is held.
	 * @param handle the hold
	 * @return the result
	 * @throws E if the action fails; the lock is released nevertheless
	 */
	T run(LockHandle handle) throws E;

}
