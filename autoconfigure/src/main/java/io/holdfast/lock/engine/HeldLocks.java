package io.holdfast.lock.engine;

import io.holdfast.lock.LockHandle;

/**
 * What the engine gives to a caller: a hold, or several that are one to the caller.
 */
interface HeldLocks extends LockHandle {

	/** Leave it to the caller to close this. */
	HeldLocks closedInCode();

	/** Run this when the last of these locks has ended. */
	HeldLocks afterwards(Runnable action);

	/**
	 * Check that the body's work can be relied on: a commit confirmed it, or every lock
	 * still stands.
	 */
	void assertHeldAtEnd();

	/**
	 * Check the same once the hold has ended: whether the store has said that it came too
	 * late.
	 */
	void assertEndedInTime();

}
