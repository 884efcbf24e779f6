package io.holdfast.lock.spi;

import java.util.Locale;

/**
 * The outcome of a renewal, as recorded by a meter.
 */
public enum RenewalOutcome {

	/** The lease was restarted. */
	RENEWED,

	/** The store reports that the lease no longer belongs to its owner. */
	REFUSED,

	/** The store did not answer, or answered with an error. */
	INDETERMINATE;

	/**
	 * Returns the outcome as the value of a meter tag.
	 * @return the value, in lower case
	 */
	public String tag() {
		return name().toLowerCase(Locale.ROOT);
	}

}
