package io.holdfast.lock.fencing;

import java.util.function.Consumer;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;

/**
 * A hold that no test loses: it does not know itself that it was overtaken.
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
	default void assertHeldAtCommit() {
	}

	@Override
	default void onLost(Consumer<LockLostEvent> listener) {
	}

	@Override
	default void close() {
	}

}
