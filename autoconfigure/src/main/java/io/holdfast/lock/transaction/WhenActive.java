package io.holdfast.lock.transaction;

/**
 * What to do when a lock is acquired by a caller that is already in a transaction.
 */
public enum WhenActive {

	/**
	 * Keep the lock until that transaction has completed. Refuses where the transaction
	 * reads from a snapshot that may be older than the lock. The default.
	 */
	HOLD,

	/** Refuse to acquire. */
	FAIL,

	/** Let the lock go when its method returns, before the commit. Can lose updates. */
	ALLOW

}
