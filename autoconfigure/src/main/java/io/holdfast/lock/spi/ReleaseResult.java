package io.holdfast.lock.spi;

/**
 * What a store answered to a release.
 */
public sealed interface ReleaseResult {

	/** The lease was this owner's and has ended. */
	record Released() implements ReleaseResult {
	}

	/** The lease was not this owner's any more; nothing was changed. */
	record NotHeld() implements ReleaseResult {
	}

	/**
	 * Nobody knows: the lease may still stand. To release again is safe.
	 *
	 * @param cause why there was no answer
	 */
	record Indeterminate(Throwable cause) implements ReleaseResult {
	}

}
