package io.holdfast.lock.spi.observation;

/**
 * The outcome of a renewal, as recorded by a meter.
 */
public enum RenewalOutcome {

	/** The lease was restarted. */
	RENEWED,

	/** The store reports that the lease no longer belongs to its owner. */
	REFUSED,

	/** The store did not answer, or answered with an error. */
	INDETERMINATE

}
