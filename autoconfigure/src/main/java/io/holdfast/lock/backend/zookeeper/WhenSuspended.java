package io.holdfast.lock.backend.zookeeper;

/**
 * Behavior of hold checks, such as the check before a commit, while the connection to
 * ZooKeeper is interrupted and the session may still be alive.
 */
public enum WhenSuspended {

	/**
	 * Waits until the server has confirmed the lock. The wait ends at the latest when the
	 * validity of the hold runs out, which loses the lock. This is the default: a short
	 * interruption then costs only time. The transaction, its connection, and its row
	 * locks wait as well.
	 */
	WAIT,

	/**
	 * Fails at once, so a transaction rolls back. The lock does not count as lost, and
	 * later checks pass again once the server has confirmed it.
	 */
	FAIL

}
