package io.holdfast.lock;

import java.util.List;

/**
 * Reports that a lock was released by force, for an audit. Published to the application's
 * event listeners in the instance that was asked to do so.
 *
 * @param lock the lock
 * @param backend the name of the backend, such as {@code redis}
 * @param evicted the holders that lost the lock
 * @param unknown the holders that may have lost the lock, because the store has not
 * confirmed it. One of this instance has lost it in any case
 */
public record LockForceReleasedEvent(LockName lock, String backend, List<LockState.Holder> evicted,
		List<LockState.Holder> unknown) {

	/**
	 * Copies the holders.
	 */
	public LockForceReleasedEvent {
		evicted = List.copyOf(evicted);
		unknown = List.copyOf(unknown);
	}

}
