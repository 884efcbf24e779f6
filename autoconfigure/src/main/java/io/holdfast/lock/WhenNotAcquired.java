package io.holdfast.lock;

/**
 * The reaction of a {@link DistributedLock} method if the lock was not acquired within
 * its {@code waitTime}. The body never runs in this case.
 */
public enum WhenNotAcquired {

	/** Throws {@link LockNotAcquiredException}. The default. */
	THROW,

	/**
	 * Returns without running the body: immediately, or after the annotation's
	 * {@code waitTime} if it has one. The property {@code distributed-lock.wait-time}
	 * does not apply. The result is {@code null}, an empty {@link java.util.Optional} (or
	 * {@code OptionalInt}, {@code OptionalLong}, {@code OptionalDouble}) if the method
	 * returns one, or a future that has completed with {@code null}. Rejected at startup
	 * on a method that returns a primitive, because no value could indicate that nothing
	 * was done.
	 */
	SKIP

}
