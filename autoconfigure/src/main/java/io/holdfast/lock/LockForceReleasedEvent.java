package io.holdfast.lock;

import java.util.List;

/**
 * Reports that a lock was released by force, for an audit. Published to the application's
 * event listeners in the instance that was asked to do so.
 *
 * @param lock the lock
 * @param backend the name of the backend, such as {@code redis}
 * @param evicted the holders that lost the lock
 */
public record LockForceReleasedEvent(LockName lock, String backend, List<LockState.Holder> evicted) {

	/**
	 * Copies the holders.
	 */
	public LockForceReleasedEvent {
		evicted = List.copyOf(evicted);
	}

}
