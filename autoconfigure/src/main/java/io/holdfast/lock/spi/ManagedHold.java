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
	 * Verifies that work under this hold is protected.
	 * @param checkpoint the moment of the call
	 * @throws LockLostException as {@link #assertHeld()}
	 * @throws LockBackendException as {@link #assertHeld()}
	 */
	void verify(Checkpoint checkpoint);

	@Override
	default void assertHeld() {
		verify(Checkpoint.NOW);
	}

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

	/**
	 * A moment at which a hold is verified.
	 */
	enum Checkpoint {

		/** While the body runs: the hold must still be valid. */
		NOW,

		/**
		 * Right before a commit that depends on the hold, which must still be valid. A
		 * later loss no longer fails the call, because its work is done.
		 */
		COMMIT,

		/**
		 * When the body has returned: a commit was verified, or the hold must still be
		 * valid.
		 */
		RETURN,

		/**
		 * After the hold was closed: a commit was verified, or the hold must not be lost.
		 * By then the store may have reported that the release came too late.
		 */
		RELEASED

	}

}
