package io.holdfast.lock.spi.observation;

import java.time.Duration;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LossCause;

/**
 * Follows one acquisition, and the hold that it may lead to, from start to end. Every
 * method does nothing by default.
 *
 * <p>
 * One method is called at a time, but each on any thread. Only {@link #openScope} may run
 * while another thread calls {@link #lost}. Implementations return quickly and do not
 * block. Their exceptions are logged and have no other effect.
 */
public interface LockObservation {

	/** Follows nothing. */
	LockObservation NONE = new LockObservation() {
	};

	/** Called when the acquisition starts. */
	default void started() {
	}

	/**
	 * Called when the lock was granted and the hold starts.
	 * @param outcome {@link AcquireOutcome#ACQUIRED} or {@link AcquireOutcome#CONTENDED}
	 * @param waited the duration of the acquisition
	 * @param token the fencing token of the hold
	 */
	default void granted(AcquireOutcome outcome, Duration waited, FencingToken token) {
	}

	/**
	 * Called when the acquisition has ended without the lock.
	 * @param outcome the reason
	 * @param waited the duration of the acquisition
	 */
	default void notGranted(AcquireOutcome outcome, Duration waited) {
	}

	/**
	 * Called on the thread that runs the caller's code under the lock, right before that
	 * code. Not called for a lock that is acquired without such code.
	 * @return is closed on the same thread, right after that code
	 */
	default Scope openScope() {
		return Scope.NONE;
	}

	/**
	 * Called when the hold was lost. {@link #released} follows nevertheless, or precedes
	 * this call if the store reports the loss only in its answer to the release.
	 * @param cause the cause of the loss
	 */
	default void lost(LossCause cause) {
	}

	/**
	 * Called when the holder has released its hold, even if the hold was lost before.
	 * @param held the time for which it was held
	 */
	default void released(Duration held) {
	}

	/**
	 * The time in which the caller's code runs under the lock.
	 */
	@FunctionalInterface
	interface Scope extends AutoCloseable {

		/** Has no effect. */
		Scope NONE = () -> {
		};

		@Override
		void close();

	}

}
