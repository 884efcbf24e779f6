package io.holdfast.lock;

/**
 * What a {@link DistributedLock} method does when the lock was not acquired within its
 * {@code waitTime}. In no case does the body run.
 */
public enum WhenNotAcquired {

	/** Throw {@link LockNotAcquiredException}. The default. */
	THROW,

	/**
	 * Return at once without running the body, or after the annotation's {@code waitTime}
	 * if it has one; {@code distributed-lock.wait-time} does not apply. Gives
	 * {@code null}, or an empty {@link java.util.Optional} where the method returns one.
	 * Refused at start-up on a method that returns a primitive, because no value could
	 * say that nothing was done.
	 */
	SKIP

}
