package io.holdfast.lock.fencing;

import java.util.function.Consumer;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;

/**
 * A hold that is never lost, because a stale holder does not know that it is stale.
 */
interface StillHeld extends LockHandle {

	@Override
	default boolean isHeld() {
		return true;
	}

	@Override
	default void assertHeld() {
	}

	@Override
	default void onLost(Consumer<LockLostEvent> listener) {
	}

	@Override
	default void close() {
	}

}
