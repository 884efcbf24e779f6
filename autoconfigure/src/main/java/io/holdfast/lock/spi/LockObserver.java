package io.holdfast.lock.spi;

import java.time.Duration;

import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockName;

/**
 * Told of everything that an operator may want to see. Every method does nothing by
 * default.
 *
 * <p>
 * Called on whichever thread noticed, so it must be thread-safe, quick and must not
 * block. What it throws is logged and changes nothing. Only outermost holds are told of;
 * a re-entrant one is part of them.
 */
public interface LockObserver {

	/** Sees nothing. */
	LockObserver NONE = new LockObserver() {
	};

	/**
	 * Whether this wants to be told of every hold, or of losses only. What nobody wants
	 * to hear of costs nothing.
	 * @return whether {@link #acquiring}, {@link #acquired}, {@link #released},
	 * {@link #renewing} and {@link #renewed} are called; always the same
	 */
	default boolean observesEveryHold() {
		return true;
	}

	/**
	 * An acquisition began.
	 * @param lock the lock
	 * @param backend the store
	 */
	default void acquiring(LockName lock, String backend) {
	}

	/**
	 * An acquisition that began has ended. If it was granted, the hold begins now.
	 * @param lock the lock
	 * @param backend the store
	 * @param outcome how it ended
	 * @param waited how long it took
	 * @param lease the lease that was asked for
	 */
	default void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
	}

	/**
	 * A hold ended: its holder let go, whether or not it had been lost before.
	 * @param lock the lock
	 * @param backend the store
	 * @param held how long it was held
	 * @param lease its lease
	 */
	default void released(LockName lock, String backend, Duration held, Duration lease) {
	}

	/**
	 * A renewal is sent.
	 * @param lock the lock
	 * @param backend the store
	 * @param late by how much it is later than it was due; zero if it is in time
	 */
	default void renewing(LockName lock, String backend, Duration late) {
	}

	/**
	 * A renewal was answered, or was not.
	 * @param lock the lock
	 * @param backend the store
	 * @param outcome how it ended
	 */
	default void renewed(LockName lock, String backend, RenewalOutcome outcome) {
	}

	/**
	 * A hold was lost.
	 * @param event what was lost and why
	 */
	default void lost(LockLostEvent event) {
	}

	/**
	 * A commit was refused, because a lock that it relied on was lost.
	 * @param lock the lock
	 * @param backend the store
	 */
	default void commitRefused(LockName lock, String backend) {
	}

	/**
	 * A holder was refused by the fence: another had been there meanwhile.
	 * @param lock the lock
	 * @param backend the store
	 */
	default void fencingRejected(LockName lock, String backend) {
	}

}
