package io.holdfast.lock;

/**
 * The mode in which a lock is held: exclusive, or shared with other readers.
 */
public enum LockMode {

	/** A single holder. The default. */
	EXCLUSIVE,

	/**
	 * Any number of shared holders and no exclusive one. A store that does not support
	 * this mode rejects it at startup.
	 */
	SHARED

}
