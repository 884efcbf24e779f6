package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.spi.TransactionBoundary.SetAside;

/**
 * What the engine gives to a caller: a hold, or several that are one to the caller.
 */
interface HeldLocks extends LockHandle {

	/**
	 * Closes this without making its caller wait. Closing makes only the thread wait that
	 * the hold is bound to: any other may be an event loop or one of the engine's own.
	 * @return completes when the store has answered the release, if callers are to wait
	 * for that, on a thread that may run their code; is complete otherwise
	 */
	CompletableFuture<?> closeAsync();

	/** Leave it to the caller to close this. */
	HeldLocks userManaged();

	/** Brings this back when the last of these locks has ended. */
	HeldLocks settingAside(SetAside setAside);

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
