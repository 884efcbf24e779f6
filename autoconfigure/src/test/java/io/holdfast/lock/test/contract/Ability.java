package io.holdfast.lock.test.contract;

/**
 * What a case of the contract may need from a store or from the harness that runs it, and
 * that not every store has.
 *
 * @see LockBackendContract#lacks()
 */
public enum Ability {

	/** The store knows {@code LockMode.SHARED}. */
	SHARED,

	/** The store can grant in the order of arrival. */
	FAIR,

	/** Of many single attempts at the same moment, one is always granted. */
	UNDIVIDED_VOTE,

	/** The store can keep a lock for a time although the client is gone. */
	RETAIN,

	/** A refused claim's signal completes when the lock becomes free. */
	SIGNAL,

	/**
	 * The harness can lose the reply to an acquisition that the store has carried out.
	 */
	LOST_REPLY,

	/** The harness can break the connections between the clients and the store. */
	CUT_CONNECTION,

	/** The harness can stop the store and start it again. */
	RESTART,

	/** The harness can make the store silent for longer than a client waits for it. */
	PAUSE,

	/** Grants live with a session, and the harness can end it. */
	KILLED_SESSION

}
