package io.holdfast.lock;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * A lock that this instance holds, as it was at the moment of the query.
 *
 * @param lock the lock
 * @param backend the name of the backend
 * @param mode exclusive or shared
 * @param fair whether it was requested in strict order of arrival
 * @param token the token of the holder
 * @param ownerId the owner id, as the store knows it
 * @param thread the name of the thread to which the hold is bound, or {@code null} if it
 * is bound to none, as after an asynchronous acquisition
 * @param heldFor the time since the lock was acquired
 * @param remainingValidity the time for which the holder can rely on the lock if no
 * renewal succeeds
 * @param inUse whether a holder uses the lock. Otherwise its holder has released it and
 * the lock stays closed for its {@code minHold}, passes to the next caller, or stays with
 * this instance because it is sticky. Or a request for several locks has got this one,
 * but not all others, and may release it
 * @param waiters the number of acquisitions of this instance that wait for the lock
 */
public record HeldLock(LockName lock, String backend, LockMode mode, boolean fair, FencingToken token, String ownerId,
		@Nullable String thread, Duration heldFor, Duration remainingValidity, boolean inUse, int waiters) {

}
