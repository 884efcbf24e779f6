package io.holdfast.lock.test.contract;

/**
 * Features that a case of the contract may require from a store or from its test harness,
 * and that not every store has.
 *
 * @see LockBackendContract#lacks()
 */
public enum Ability {

	/** The store supports {@code LockMode.SHARED}. */
	SHARED,

	/** The store can grant locks in order of arrival. */
	FAIR,

	/** A rejected claim demands a sticky lease of another client. */
	DEMAND,

	/** The store always grants one of several single attempts made at the same time. */
	UNDIVIDED_VOTE,

	/** The store can keep a lock for a fixed time after its client has closed. */
	RETAIN,

	/** The backend can look up the holders of a lock, and check its store. */
	LOOKUP,

	/** The signal of a refused claim completes when the lock becomes available. */
	SIGNAL,

	/**
	 * The harness can drop the reply to an acquisition that the store has processed.
	 */
	LOST_REPLY,

	/** The harness can break the connections between the clients and the store. */
	CUT_CONNECTION,

	/** The harness can stop and restart the store. */
	RESTART,

	/**
	 * The harness can stop the store from responding for longer than a client's timeout.
	 */
	PAUSE,

	/** Grants are bound to a session, and the harness can end that session. */
	KILLED_SESSION

}
