package io.holdfast.sample;

/**
 * Which way an order goes.
 */
enum Locking {

	/** Locked around the transaction: the right way. */
	DISTRIBUTED,

	/** Not locked: loses updates. */
	NONE,

	/** Locked inside the transaction and let go before its commit: loses updates. */
	INSIDE

}
