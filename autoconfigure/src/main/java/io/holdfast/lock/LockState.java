package io.holdfast.lock;

import java.time.Duration;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * The holders and waiters of a lock in its store, at the moment of the query.
 *
 * @param lock the lock
 * @param backend the name of the backend
 * @param holders the holders in all instances; several only in shared mode
 * @param waiters the number of claims in the wait queue of the store, or {@code null} if
 * that is not known. Further callers may wait in their own instances
 */
public record LockState(LockName lock, String backend, List<Holder> holders, @Nullable Integer waiters) {

	/**
	 * Copies the holders.
	 */
	public LockState {
		holders = List.copyOf(holders);
	}

	/**
	 * Returns whether the lock is held.
	 * @return whether there is a holder
	 */
	public boolean isHeld() {
		return !this.holders.isEmpty();
	}

	/**
	 * A holder, as the store knows it.
	 *
	 * @param ownerId the random identity of the lease. Find it in the instance that holds
	 * it by {@link HeldLock#ownerId()}
	 * @param mode exclusive or shared
	 * @param token the token of the first hold with this lease; later holds that took the
	 * lease over in their instance have slightly greater ones
	 * @param remainingLease the time until the store ends the lease unless it is renewed,
	 * or {@code null} if the lease lives with a session whose end the store does not
	 * report
	 */
	public record Holder(String ownerId, LockMode mode, FencingToken token, @Nullable Duration remainingLease) {

	}

}
