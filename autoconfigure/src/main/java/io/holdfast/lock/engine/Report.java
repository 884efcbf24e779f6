package io.holdfast.lock.engine;

import java.time.Duration;

import io.holdfast.lock.spi.observation.AcquireOutcome;

/**
 * Notifies the observers of one acquisition: when it starts, and once when it ends. A
 * tentative acquisition is reported only if it succeeds.
 */
final class Report {

	private final EngineContext context;

	private final ResolvedRequest terms;

	private final boolean tentative;

	private final long startedAt;

	Report(EngineContext context, ResolvedRequest terms, IfRefused ifRefused, long startedAt) {
		this.context = context;
		this.terms = terms;
		this.tentative = ifRefused == IfRefused.TRY_LATER;
		this.startedAt = startedAt;
	}

	void begins() {
		if (!this.tentative) {
			begun();
		}
	}

	void granted(boolean afterWaiting) {
		if (this.tentative) {
			begun();
		}
		ended(afterWaiting ? AcquireOutcome.CONTENDED : AcquireOutcome.ACQUIRED);
	}

	void notGranted(AcquireOutcome how) {
		if (!this.tentative) {
			ended(how);
		}
	}

	private void begun() {
		this.context.observer().acquiring(this.terms.lock(), this.terms.backend().name());
	}

	private void ended(AcquireOutcome how) {
		Duration waited = Duration.ofNanos(this.context.time().nanos() - this.startedAt);
		this.context.observer()
			.acquired(this.terms.lock(), this.terms.backend().name(), how, waited, this.terms.leaseTime());
	}

}
