package io.holdfast.lock;

/**
 * The mode in which a lock is held: exclusive, or shared with other readers.
 */
public enum LockMode {

	/** A single holder. The default. */
	EXCLUSIVE,

	/**
	 * Any number of shared holders and no exclusive one. If the store does not support
	 * this mode, an annotation is rejected at startup, and a request in code when it is
	 * made.
	 */
	SHARED

}
