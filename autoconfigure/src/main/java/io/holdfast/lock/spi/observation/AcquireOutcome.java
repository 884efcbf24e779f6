package io.holdfast.lock.spi.observation;

/**
 * The outcome of an acquisition, as recorded by a meter.
 */
public enum AcquireOutcome {

	/** Granted without an earlier rejection. */
	ACQUIRED,

	/** Granted after waiting for another holder. */
	CONTENDED,

	/**
	 * Not granted within its {@code waitTime}, and reported to the caller by an
	 * exception.
	 */
	TIMEOUT,

	/**
	 * Not granted within its {@code waitTime}, and the caller had asked to continue
	 * without the lock.
	 */
	SKIPPED,

	/**
	 * Abandoned because the waiting thread was interrupted, the waiting future cancelled,
	 * the lock released by force when it was granted, or the application is stopping.
	 */
	INTERRUPTED,

	/** Abandoned because the store failed or did not answer. */
	ERROR

}
