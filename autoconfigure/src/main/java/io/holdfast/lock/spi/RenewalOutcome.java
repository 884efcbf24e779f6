package io.holdfast.lock.spi;

import java.util.Locale;

/**
 * How a renewal ended, as a meter tells it.
 */
public enum RenewalOutcome {

	/** The lease starts anew. */
	RENEWED,

	/** The store says that the lease is no longer ours. */
	REFUSED,

	/** No answer, or an error. */
	INDETERMINATE;

	/**
	 * The outcome as the value of a meter's tag.
	 * @return the value, in lower case
	 */
	public String tag() {
		return name().toLowerCase(Locale.ROOT);
	}

}
