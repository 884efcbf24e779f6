package io.holdfast.lock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One hold of a lock, from its acquisition until {@link #close()} or its loss.
 *
 * <p>
 * Thread-safe. A thread other than the acquiring one may close the hold.
 */
public interface LockHandle extends AutoCloseable {

	/**
	 * Returns the innermost hold of the current thread: the one whose annotated method or
	 * {@code execute} callback is running.
	 * @return the handle, or empty if this thread holds nothing
	 */
	static Optional<LockHandle> current() {
		return Optional.ofNullable(LockContext.innermost());
	}

	/**
	 * Returns the holds that make up this one: several for a request that names several
	 * locks, otherwise only this one.
	 * @return the holds, in the global order of their locks
	 */
	default List<LockHandle> parts() {
		return List.of(this);
	}

	/**
	 * Returns the lock that is held; of several locks, the first in the global order.
	 * @return the name of the lock
	 */
	LockName lock();

	/**
	 * Returns the name of the backend that granted the lock.
	 * @return the name, such as {@code redis}
	 */
	String backend();

	/**
	 * Returns whether the lock is held exclusively or shared. A thread that holds a lock
	 * exclusively and re-enters it in shared mode still holds it exclusively.
	 * @return the mode; of several locks, that of the first
	 */
	LockMode mode();

	/**
	 * Returns the random identity of the lease that this hold uses. Reentrant holds have
	 * the same identity, and so have holds that take over the lease in this JVM; those
	 * differ in their {@link #fencingToken()}.
	 * @return the owner id, as the store knows it; of several locks, that of the first
	 */
	String ownerId();

	/**
	 * Returns the fencing token of this hold's own grant. The token is never read again
	 * from the store, so it stays the same after a loss. A resource can therefore
	 * distinguish this holder from its successor.
	 * @return the token
	 * @throws IllegalStateException if this hold has several {@link #parts()}, each of
	 * which has a token of its own
	 */
	FencingToken fencingToken();

	/**
	 * Returns the time for which the holder can rely on this hold if no renewal succeeds.
	 * After a wait, the store may have kept the lock for less than its lease, such as
	 * three seconds. The first renewal, about 20 milliseconds later, then extends the
	 * time.
	 * @return the time, on a clock that is not affected by changes of the host's time;
	 * zero once the hold is closed or lost
	 */
	Duration remainingValidity();

	/**
	 * Returns whether this hold is neither closed nor lost and still valid. Sends no
	 * request to the store.
	 * @return whether it is held
	 */
	boolean isHeld();

	/**
	 * Verifies that this hold is still valid. Sends no request to the store, with two
	 * exceptions. An advisory lock of PostgreSQL can end at any time, so its server is
	 * always asked. A backend that knows that its connection was interrupted asks again.
	 * In that case, the call may wait until the store has confirmed the hold, at most
	 * until the validity has ended. A thread of Reactor that must not block, such as an
	 * event loop, does not wait.
	 * @throws LockLostException if the hold is lost or closed, or its validity has ended
	 * @throws LockBackendException if the store cannot confirm the hold at this moment
	 * and the call does not wait for it, or if this thread is interrupted while it waits;
	 * the hold is not known to be lost then
	 */
	void assertHeld();

	/**
	 * Registers a listener that is called once if this hold is lost, or immediately if it
	 * is already lost. The listeners of a hold run one after another: on a thread of
	 * their own, or on the thread of the application that detects the loss, such as one
	 * that closes the hold. A listener may block, but delays the ones after it.
	 * @param listener the listener, which receives the lost lock and the cause
	 */
	void onLost(Consumer<LockLostEvent> listener);

	/**
	 * Closes this hold. The lock is released with its last hold. Inside a transaction of
	 * the caller, the release may wait until the transaction ends. Closing a hold again
	 * has no effect. Never throws because the lease is already gone.
	 */
	@Override
	void close();

}
