package io.holdfast.lock;

import org.jspecify.annotations.Nullable;

/**
 * What runs instead when a lock was not to be had.
 *
 * @param <T> what it returns
 * @param <E> what it throws
 */
@FunctionalInterface
public interface UnlockedAction<T extends @Nullable Object, E extends Throwable> {

	/**
	 * Run without the lock.
	 * @param reason why it was not acquired
	 * @return the result
	 * @throws E if it fails
	 */
	T run(LockNotAcquiredException reason) throws E;

}
