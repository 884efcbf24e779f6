package io.holdfast.lock.spi;

import java.util.Locale;

/**
 * How an acquisition ended, as a meter tells it.
 */
public enum AcquireOutcome {

	/** Granted without having been refused before. */
	ACQUIRED,

	/** Granted after another holder had made it wait. */
	CONTENDED,

	/**
	 * Not granted within its {@code waitTime}, and the caller was told so by an
	 * exception.
	 */
	TIMEOUT,

	/**
	 * Not granted within its {@code waitTime}, and the caller had asked to go on without.
	 */
	SKIPPED,

	/**
	 * Given up because the waiting thread was interrupted or the waiting future
	 * cancelled.
	 */
	INTERRUPTED,

	/** Given up because the store failed or did not answer. */
	ERROR;

	/**
	 * The outcome as the value of a meter's tag.
	 * @return the value, in lower case
	 */
	public String tag() {
		return name().toLowerCase(Locale.ROOT);
	}

}
