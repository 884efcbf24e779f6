package io.holdfast.lock;

import java.util.List;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

/**
 * Shows who holds and who waits for a lock, and releases locks by force. Intended for
 * operators and diagnostics.
 *
 * <p>
 * Every result may be outdated when it is returned. Never use it to decide whether to
 * work without a lock. Thread-safe.
 */
public interface LockInspector {

	/**
	 * Returns the locks that this instance holds. Sends no request.
	 * @return the locks, sorted by name; one entry for each hold of a shared lock
	 */
	List<HeldLock> held();

	/**
	 * Returns the acquisitions of this instance that are in progress. Sends no request.
	 * @return the acquisitions, sorted by lock and then by how long they wait
	 */
	List<WaitingAcquisition> waiting();

	/**
	 * Asks the store of the default backend about a lock.
	 * @param lock the lock
	 * @return the holders in all instances, and the waiters
	 * @throws LockBackendException if the store does not respond within the response
	 * timeout, or reports an error
	 * @throws LockConfigurationException if the backend cannot look up locks
	 */
	default LockState find(LockName lock) {
		return find(lock, null);
	}

	/**
	 * Asks a store about a lock.
	 * @param lock the lock
	 * @param backend the name of the backend, or {@code null} for the default
	 * @return the holders in all instances, and the waiters
	 * @throws LockBackendException if the store does not respond within the response
	 * timeout, or reports an error
	 * @throws LockConfigurationException if there is no such backend, or if it cannot
	 * look up locks
	 */
	LockState find(LockName lock, @Nullable String backend);

	/**
	 * Releases a lock of the default backend by force, as the other method does.
	 * @param lock the lock
	 * @return the holders that lost the lock; empty if it was free
	 * @throws LockBackendException if the store does not respond within the response
	 * timeout, or reports an error
	 * @throws LockConfigurationException if the backend cannot look up locks
	 */
	default List<LockState.Holder> forceRelease(LockName lock) {
		return forceRelease(lock, null);
	}

	/**
	 * Releases a lock by force, regardless of its holder. The next holder gets a greater
	 * token, so a fence rejects the evicted one. A holder in this instance is lost at
	 * once, with {@link LossCause#FORCED}, and its transaction cannot commit. A holder in
	 * another instance learns of it from the store at its next renewal, or at the end of
	 * its validity if it is not renewed, and works on until then. Listeners receive a
	 * {@link LockForceReleasedEvent}.
	 * @param lock the lock
	 * @param backend the name of the backend, or {@code null} for the default
	 * @return the holders that lost the lock; empty if it was free
	 * @throws LockBackendException if the store does not respond within the response
	 * timeout, or reports an error. Some holders may have lost the lock
	 * @throws LockConfigurationException if there is no such backend, or if it cannot
	 * look up locks
	 */
	default List<LockState.Holder> forceRelease(LockName lock, @Nullable String backend) {
		return forceRelease(lock, backend, (holder) -> true);
	}

	/**
	 * Releases a lock by force from the holders that a condition accepts, and has no
	 * effect on others. So the holder that an operator has looked at is released, but not
	 * one that has acquired the lock since. A holder has the token of its own hold if it
	 * is in this instance, and else that of the first hold with its lease.
	 * @param lock the lock
	 * @param backend the name of the backend, or {@code null} for the default
	 * @param onlyIf accepts the holders to release; may be called several times for each
	 * @return the holders that lost the lock by this call; empty if there was no such
	 * holder
	 * @throws LockBackendException if the store does not respond within the response
	 * timeout or reports an error, so that some holders may have lost the lock. Also if
	 * another call releases the lock by force at this moment
	 * @throws LockConfigurationException if there is no such backend, or if it cannot
	 * look up locks
	 */
	List<LockState.Holder> forceRelease(LockName lock, @Nullable String backend,
			Predicate<? super LockState.Holder> onlyIf);

}
