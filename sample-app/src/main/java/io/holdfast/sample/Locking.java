package io.holdfast.sample;

/**
 * Locking strategy of an order.
 */
enum Locking {

	/** Locks around the transaction, which is correct. */
	DISTRIBUTED,

	/** Does not lock, which loses updates. */
	NONE,

	/**
	 * Locks inside the transaction and releases before its commit, which loses updates.
	 */
	INSIDE

}
