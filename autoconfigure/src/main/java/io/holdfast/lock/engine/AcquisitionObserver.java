package io.holdfast.lock.engine;

import java.time.Duration;

import io.holdfast.lock.spi.observation.AcquireOutcome;
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

	private boolean begun;

	AcquisitionObserver(LockObserver observer, WaitTime wait, ResolvedRequest request, IfRefused ifRefused) {
		this.observer = observer;
		this.wait = wait;
		this.request = request;
		this.tentative = ifRefused == IfRefused.TRY_LATER;
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
		ended(afterWaiting ? AcquireOutcome.CONTENDED : AcquireOutcome.ACQUIRED);
	}

	void notGranted(AcquireOutcome how) {
		if (this.begun) {
			ended(how);
		}
	}

	private void begun() {
		this.begun = true;
		this.observer.acquiring(this.request.lock(), this.request.backend().name());
	}

	private void ended(AcquireOutcome how) {
		Duration waited = Duration.ofNanos(this.wait.elapsed());
		this.observer.acquired(this.request.lock(), this.request.backend().name(), how, waited,
				this.request.leaseTime());
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
