package io.holdfast.lock.engine;

import java.time.Duration;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.spi.observation.LockObserver;

/**
 * Notifies the observers of one acquisition: when it starts, and once when it ends. A
 * tentative acquisition is reported only if it succeeds, and one that is cancelled before
 * it starts is not reported.
 */
final class AcquisitionObserver {

	private final LockObserver observer;

	private final WaitTime wait;

	private final ResolvedRequest request;

	private final boolean tentative;

	private final LockObservation observation;

	private boolean begun;

	private AcquireOutcome granted = AcquireOutcome.ACQUIRED;

	AcquisitionObserver(LockObserver observer, WaitTime wait, ResolvedRequest request, IfRefused ifRefused) {
		this.observer = observer;
		this.wait = wait;
		this.request = request;
		this.tentative = ifRefused == IfRefused.TRY_LATER;
		this.observation = observer.observe(request.lock(), request.backend().name());
	}

	void begins() {
		if (!this.tentative) {
			begun();
		}
	}

	void granted(boolean afterWaiting) {
		if (!this.begun) {
			begun();
		}
		this.granted = afterWaiting ? AcquireOutcome.CONTENDED : AcquireOutcome.ACQUIRED;
		ended(this.granted);
	}

	/**
	 * Notifies the observation of the hold.
	 * @return the observation, which follows the hold from now on
	 */
	LockObservation holds(FencingToken token) {
		this.observation.granted(this.granted, waited(), token);
		return this.observation;
	}

	void notGranted(AcquireOutcome how) {
		if (this.begun) {
			ended(how);
			this.observation.notGranted(how, waited());
		}
	}

	private void begun() {
		this.begun = true;
		this.observation.begun();
		this.observer.acquiring(this.request.lock(), this.request.backend().name());
	}

	private void ended(AcquireOutcome how) {
		this.observer.acquired(this.request.lock(), this.request.backend().name(), how, waited(),
				this.request.leaseTime());
	}

	private Duration waited() {
		return Duration.ofNanos(this.wait.elapsed());
	}

	/**
	 * What a caller does if another holder keeps the lock.
	 */
	enum IfRefused {

		/** The caller fails. */
		FAIL(AcquireOutcome.TIMEOUT),

		/** The caller continues without the lock. */
		SKIP(AcquireOutcome.SKIPPED),

		/** The caller does not wait now but tries later; observers are not notified. */
		TRY_LATER(AcquireOutcome.SKIPPED);

		private final AcquireOutcome outcome;

		IfRefused(AcquireOutcome outcome) {
			this.outcome = outcome;
		}

		/** Returns the outcome of a refusal for observers. */
		AcquireOutcome outcome() {
			return this.outcome;
		}

	}

}
