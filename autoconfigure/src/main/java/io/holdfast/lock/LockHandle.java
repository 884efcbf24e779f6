package io.holdfast.lock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * One hold of a lock, from its acquisition until {@link #close()} or its loss.
 *
 * <p>
 * Thread-safe; it may be closed by another thread than the one that acquired it.
 */
public interface LockHandle extends AutoCloseable {

	/**
	 * The innermost hold of the current thread: the one whose annotated method or
	 * {@code execute} callback is running.
	 * @return the handle, or empty if this thread holds nothing
	 */
	static Optional<LockHandle> current() {
		return Optional.ofNullable(LockContext.innermost());
	}

	/**
	 * The holds of which this one consists: several if it was asked for several locks,
	 * else this one alone.
	 * @return the holds, in the global order of their locks
	 */
	default List<LockHandle> parts() {
		return List.of(this);
	}

	/**
	 * The lock that is held; of several, the first in the global order.
	 * @return its name
	 */
	LockName name();

	/**
	 * The store that granted it.
	 * @return the store, such as {@code redis}
	 */
	String backend();

	/**
	 * Whether it is held alone or together with others. Who holds a lock alone and enters
	 * it again to share it still holds it alone.
	 * @return the mode; of several locks, that of the first
	 */
	LockMode mode();

	/**
	 * The random identity of the acquisition that this hold comes from; the same on
	 * re-entry.
	 * @return the owner id, as the store knows it; of several locks, that of the first
	 */
	String ownerId();

	/**
	 * The token of this hold's own grant. It is never read again from the store, so it
	 * stays the same after a loss: a resource can then tell this holder from its
	 * successor.
	 * @return the token
	 * @throws IllegalStateException if this hold has several {@link #parts()}, each of
	 * which has a token of its own
	 */
	FencingToken fencingToken();

	/**
	 * How long the holder may still believe that it holds, if no renewal succeeds.
	 * @return the time, on a clock that no change of the host's time moves; zero once the
	 * hold is closed or lost
	 */
	Duration remainingValidity();

	/**
	 * Whether this hold is neither closed nor lost and still valid. Asks no server.
	 * @return whether it is held
	 */
	boolean isHeld();

	/**
	 * Check that this hold is still valid. Asks no server, unless the store knows that
	 * its connection was interrupted: then it may wait until the store has made sure, at
	 * most until the validity has run out.
	 * @throws LockLostException if it is lost, closed, or its validity has run out
	 * @throws LockBackendException if the store cannot make sure of it at this moment and
	 * is not to be waited for, or this thread is interrupted while it waits; nothing is
	 * known to be lost then
	 */
	void assertHeld();

	/**
	 * Check that this hold is still valid right before a commit that depends on it. A
	 * loss after this no longer fails the call, because its work is done.
	 * @throws LockLostException as {@link #assertHeld()}
	 * @throws LockBackendException as {@link #assertHeld()}
	 */
	void assertHeldAtCommit();

	/**
	 * What to look at if this hold stands in the way of its own thread, for messages:
	 * that it was acquired in code and is still open.
	 * @return sentences, each after a blank; empty if there is nothing to say
	 */
	default String diagnosis() {
		return "";
	}

	/**
	 * Call a listener once if this hold is lost, or now if it already is. It runs on the
	 * thread that noticed, so it must be quick and must not block.
	 * @param listener told what was lost and why
	 */
	void onLost(Consumer<LockLostEvent> listener);

	/**
	 * End this hold. The lock is let go with its last hold; inside a transaction of the
	 * caller this may wait for the transaction's end. To close twice does nothing. Never
	 * throws because the lease is already gone.
	 */
	@Override
	void close();

}
