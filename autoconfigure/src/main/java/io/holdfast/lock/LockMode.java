package io.holdfast.lock;

/**
 * How a lock is held: alone, or together with other readers.
 */
public enum LockMode {

	/** One holder and nobody else. The default. */
	EXCLUSIVE,

	/**
	 * Any number of holders that all asked for {@code SHARED}, and no exclusive one. A
	 * store that cannot do this refuses at start-up.
	 */
	SHARED

}
