package io.holdfast.lock.spi.observation;

import java.time.Duration;
import java.util.List;

import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;

/**
 * Callback for all lock events that are relevant to an operator. Every method does
 * nothing by default.
 *
 * <p>
 * Called on the thread that detects the event. Implementations must be thread-safe,
 * return quickly and not block. Their exceptions are logged and have no other effect.
 * Only outermost holds are reported; a reentrant hold is part of its outermost one.
 */
public interface LockObserver {

	/** Ignores all events. */
	LockObserver NONE = new LockObserver() {
	};

	/**
	 * Combines observers into one. Without observers, notifications cost nothing.
	 * @param observers the observers
	 * @return an observer that notifies all of them in order, logs their exceptions and
	 * throws nothing
	 */
	static LockObserver all(List<? extends LockObserver> observers) {
		return observers.isEmpty() ? NONE : new GuardedLockObserver(observers);
	}

	/**
	 * Called when an acquisition is requested, on the requesting thread where possible.
	 * @param lock the lock
	 * @param backend the name of the backend
	 * @return follows the acquisition and its hold; {@link LockObservation#NONE} if this
	 * observer does not follow it
	 */
	default LockObservation observe(LockName lock, String backend) {
		return LockObservation.NONE;
	}

	/**
	 * Called when an acquisition has started.
	 * @param lock the lock
	 * @param backend the name of the backend
	 */
	default void acquiring(LockName lock, String backend) {
	}

	/**
	 * Called when an acquisition that was started has completed. If the lock was granted,
	 * the hold starts now.
	 * @param lock the lock
	 * @param backend the name of the backend
	 * @param outcome the outcome
	 * @param waited the duration of the acquisition
	 * @param lease the requested lease
	 */
	default void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
	}

	/**
	 * Called when a holder has released its hold, even if the hold was lost before.
	 * @param lock the lock
	 * @param backend the name of the backend
	 * @param held the time for which it was held
	 * @param lease its lease
	 */
	default void released(LockName lock, String backend, Duration held, Duration lease) {
	}

	/**
	 * Called when a caller takes over the lease of the holder before it in this JVM,
	 * without a request to the store. The acquisition is reported as well.
	 * @param lock the lock
	 * @param backend the name of the backend
	 */
	default void handedOff(LockName lock, String backend) {
	}

	/**
	 * Called when a renewal is sent.
	 * @param lock the lock
	 * @param backend the name of the backend
	 * @param late the delay after the due time; zero if it is on time
	 */
	default void renewing(LockName lock, String backend, Duration late) {
	}

	/**
	 * Called when a renewal was answered or has failed.
	 * @param lock the lock
	 * @param backend the name of the backend
	 * @param outcome the outcome
	 */
	default void renewed(LockName lock, String backend, RenewalOutcome outcome) {
	}

	/**
	 * Called when a hold was lost.
	 * @param event the lost hold and the cause
	 */
	default void lost(LockLostEvent event) {
	}

	/**
	 * Called when a commit was rejected because it relied on a lock that was lost.
	 * @param lock the lock
	 * @param backend the name of the backend
	 */
	default void commitRefused(LockName lock, String backend) {
	}

	/**
	 * Called when the fence rejected a stale holder, because another holder had the lock
	 * meanwhile.
	 * @param lock the lock
	 * @param backend the name of the backend
	 */
	default void fencingRejected(LockName lock, String backend) {
	}

}
