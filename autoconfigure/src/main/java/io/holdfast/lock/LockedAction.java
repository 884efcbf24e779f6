package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * What runs while a lock is held.
 *
 * @param <T> what it returns
 * @param <E> what it throws
 */
@FunctionalInterface
public interface LockedAction<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Run while the lock is held.
	 * @param handle the hold
	 * @return the result
	 * @throws E if it fails; the lock is let go all the same
	 */
	T run(LockHandle handle) throws E;

}
