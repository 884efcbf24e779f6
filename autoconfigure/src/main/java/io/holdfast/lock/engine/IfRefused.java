package io.holdfast.lock.engine;

import io.holdfast.lock.spi.observation.AcquireOutcome;

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
