package io.holdfast.lock.transaction;

/**
 * The policy for a caller that acquires a lock while it is already in a transaction.
 */
public enum WhenActive {

	/**
	 * Keeps the lock until that transaction has completed. Rejects the acquisition if the
	 * transaction reads from a snapshot that may be older than the lock. The default.
	 */
	HOLD,

	/** Rejects the acquisition. */
	FAIL,

	/**
	 * Releases the lock when its method returns, before the commit. Updates may be lost.
	 */
	ALLOW

}
