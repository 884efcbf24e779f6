package io.holdfast.lock.spi;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;

/**
 * A hold as the packages around the engine use it. The engine's handles implement it;
 * applications use {@link LockHandle} only.
 */
public interface ManagedHold extends LockHandle {

	/**
	 * Verifies that this hold is still valid, right before a commit that depends on it. A
	 * later loss no longer fails the call, because its work is done.
	 * @throws LockLostException as {@link #assertHeld()}
	 * @throws LockBackendException as {@link #assertHeld()}
	 */
	void assertHeldAtCommit();

	/**
	 * Returns a hint for error messages if this hold may block other work of its own
	 * thread: that it was acquired in code and is still open.
	 * @return sentences, each preceded by a space; empty if there is no hint
	 */
	default String diagnosis() {
		return "";
	}

	/**
	 * Returns the {@link #diagnosis()} of a handle.
	 * @param handle the handle
	 * @return sentences, each preceded by a space; empty if there is no hint
	 */
	static String diagnosis(LockHandle handle) {
		return (handle instanceof ManagedHold managed) ? managed.diagnosis() : "";
	}

}
