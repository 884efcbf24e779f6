package io.holdfast.lock.spi;

/**
 * The result of a release.
 */
public sealed interface ReleaseResult {

	/** The lease belonged to this owner and has ended. */
	record Released() implements ReleaseResult {
	}

	/** The lease no longer belonged to this owner; nothing was changed. */
	record NotHeld() implements ReleaseResult {
	}

	/**
	 * The outcome is unknown: the store may still keep the lease. A repeated release is
	 * safe.
	 *
	 * @param cause the reason why there was no answer
	 */
	record Indeterminate(Throwable cause) implements ReleaseResult {
	}

}
