package io.holdfast.lock;

import java.util.List;

/**
 * Where a hold may begin and end in the course of its caller: the seam between the engine
 * and the caller's transaction. Called on the caller's thread.
 */
public interface HoldBoundary {

	/** No boundary: every hold may begin at once and ends when it is closed. */
	HoldBoundary NONE = new HoldBoundary() {
	};

	/**
	 * Set aside what the calling thread has read before a lock and would be answered from
	 * memory. Called once before the first new hold of a request is acquired; not for a
	 * re-entrant hold, under which everything was read already.
	 * @param locks the locks of the request
	 * @return what was set aside
	 */
	default SetAside setAside(List<LockName> locks) {
		return SetAside.NOTHING;
	}

	/**
	 * Decide whether a new hold may begin here. Not called for a re-entrant hold, whose
	 * outer hold already stands.
	 * @param lock the lock that is about to be acquired
	 * @throws LockException if a hold that begins here could not protect its caller
	 */
	default void beforeAcquire(LockName lock) {
	}

	/**
	 * Decides whether a hold that belongs to no thread may be requested here. Called on
	 * the thread that requests it.
	 * @param lock the lock that is about to be acquired
	 * @throws LockException if such a hold could not protect its caller
	 */
	default void beforeAcquireAsync(LockName lock) {
	}

	/**
	 * Whether the release of a hold waits for the transactions that were active while the
	 * hold was bound to their thread, or in which it is closed.
	 * @return whether holds may be deferred at all
	 */
	default boolean defersReleases() {
		return false;
	}

	/**
	 * Defers the release of a hold if a transaction is active. Called after the hold was
	 * bound to its thread, and right before it is closed, on the thread that closes it.
	 * @param hold the hold
	 */
	default void deferRelease(DeferrableHold hold) {
	}

	/**
	 * A hold whose release can wait for something else than its close.
	 */
	interface DeferrableHold extends LockHandle {

		/**
		 * Keeps the lock, even if this hold is closed, until the returned action has run.
		 * @return ends the deferral; to be run once, on any thread
		 */
		Runnable deferRelease();

	}

	/**
	 * What a request has set aside while it holds its locks.
	 */
	interface SetAside {

		/** Nothing was set aside. */
		SetAside NOTHING = () -> {
		};

		/**
		 * Fails if the call has changed what was set aside, because nothing writes such a
		 * change under the lock. Called right before a commit, and at the end of a call
		 * without one.
		 * @param lock the lock that the call holds
		 * @throws LockException if something was changed
		 */
		default void requireUnchanged(LockName lock) {
		}

		/**
		 * Brings it back. Called once the hold has ended or was not acquired, on
		 * whichever thread that happens. Throws nothing.
		 */
		void bringBack();

	}

}
