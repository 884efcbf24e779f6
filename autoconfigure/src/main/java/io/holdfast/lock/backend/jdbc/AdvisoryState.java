package io.holdfast.lock.backend.jdbc;

/**
 * The state of a claim and its session.
 */
enum AdvisoryState {

	/** No attempt was made yet. */
	NEW,

	/** The server was asked for the lock, and a thread awaits the answer. */
	WAITING,

	/** The server has granted the lock while the claim waited. */
	KEPT,

	/** The claim has the lock for its lease. */
	HELD,

	/** The session has neither lock nor connection. */
	ENDED

}
