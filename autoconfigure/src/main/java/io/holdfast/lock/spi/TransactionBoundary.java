package io.holdfast.lock.spi;

import java.util.List;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;

/**
 * Decides where a hold may start and end relative to the caller's transactions. Called on
 * the caller's thread.
 */
public interface TransactionBoundary {

	/** Applies no rules: a hold may start anywhere and ends when it is closed. */
	TransactionBoundary NONE = new TransactionBoundary() {
	};

	/**
	 * Runs a call that holds its locks until it returns. Called before the locks are
	 * acquired.
	 * @param call acquires the locks, runs the caller's code and releases the locks
	 * @param <T> the type of the result
	 * @param <E> the type of the exceptions
	 * @return the result of the call
	 * @throws E if the call throws it
	 */
	default <T extends @Nullable Object, E extends Throwable> T run(LockedCall<T, E> call) throws E {
		return call.run();
	}

	/**
	 * Sets aside the state that the calling thread has read before the lock and that
	 * would be served from memory. Called once before the first new hold of a request is
	 * acquired, not for a reentrant hold.
	 * @param locks the locks of the request
	 * @return the state that was set aside
	 */
	default SetAside setAside(List<LockName> locks) {
		return SetAside.NOTHING;
	}

	/**
	 * Checks whether a new hold may start here. Not called for a reentrant hold.
	 * @param lock the lock to acquire
	 * @throws LockException if a hold that starts here could not protect its caller
	 */
	default void beforeAcquire(LockName lock) {
	}

	/**
	 * Checks whether a hold that is not bound to a thread may be requested here. Called
	 * on the requesting thread.
	 * @param lock the lock to acquire
	 * @throws LockException if such a hold could not protect its caller
	 */
	default void beforeAcquireAsync(LockName lock) {
	}

	/**
	 * Returns whether the release of a hold waits for the transactions that were active
	 * while the hold was bound to their thread, or in which it is closed.
	 * @return whether releases may be deferred
	 */
	default boolean defersReleases() {
		return false;
	}

	/**
	 * Defers the release of a hold if a transaction is active. Called after the hold was
	 * bound to its thread, and immediately before it is closed, on the closing thread.
	 * @param hold the hold
	 */
	default void deferRelease(DeferrableHold hold) {
	}

	/**
	 * A call with everything that it does to hold its locks.
	 *
	 * @param <T> the type of the result
	 * @param <E> the type of the exceptions
	 */
	@FunctionalInterface
	interface LockedCall<T extends @Nullable Object, E extends Throwable> {

		/**
		 * Runs the call.
		 * @return the result
		 * @throws E if the call fails
		 */
		T run() throws E;

	}

	/**
	 * A hold whose release can be deferred beyond its close.
	 */
	interface DeferrableHold extends LockHandle {

		/**
		 * Keeps the lock, even if this hold is closed, until the returned action has run.
		 * @return ends the deferral; run it once, on any thread
		 */
		Runnable deferRelease();

	}

	/**
	 * State that a request has set aside while it holds its locks.
	 */
	interface SetAside {

		/** Nothing was set aside. */
		SetAside NOTHING = () -> {
		};

		/**
		 * Fails if the call has changed the state that was set aside, because such a
		 * change is not written under the lock. Called immediately before a commit, and
		 * at the end of a call without one.
		 * @param lock the lock that the call holds
		 * @throws LockException if the state was changed
		 */
		default void requireUnchanged(LockName lock) {
		}

		/**
		 * Restores the state. Called on any thread, once the hold has ended or was not
		 * acquired. Throws nothing.
		 */
		void restore();

	}

}
