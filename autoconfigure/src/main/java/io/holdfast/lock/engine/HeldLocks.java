package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.function.Predicate;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.spi.ManagedHold;
import io.holdfast.lock.spi.TransactionBoundary.SetAside;
import io.holdfast.lock.spi.observation.LockObservation;

/**
 * The engine's handle for a caller: one hold, or several that are combined into one.
 */
interface HeldLocks extends ManagedHold {

	/**
	 * Closes this hold without blocking the caller. In contrast, {@link #close()} may
	 * block, but only the thread to which the hold is bound. Any other thread may be an
	 * event loop or one of the engine's own.
	 * @return completes when the store has responded to the release, on a thread that may
	 * run callers' code; already complete if callers do not wait for releases
	 */
	CompletableFuture<?> closeAsync();

	/**
	 * Closes this hold, which no code has used, without blocking the caller. Neither its
	 * {@code minHold} nor a transaction keeps the lock.
	 * @return completes when the store has responded to the release
	 */
	CompletableFuture<?> discard();

	/**
	 * Fails if a lock was lost before the caller's code starts: while other locks of the
	 * request were acquired, or while the process was paused.
	 */
	void requireHeldAtStart();

	/**
	 * Notifies the observations that the caller's code runs on this thread from now on.
	 */
	LockObservation.Scope openScope();

	/** Marks this hold as one that user code must close. */
	HeldLocks userManaged();

	/** Restores the given state when the last of these holds has ended. */
	void setAside(SetAside setAside);

	/** Returns a predicate for the holds of a lease. */
	static Predicate<LockHandle> of(Lease lease) {
		return (handle) -> handle instanceof Hold hold && hold.lease() == lease;
	}

}
