package io.holdfast.lock.backend.zookeeper;

/**
 * What becomes of a check that a lock is held, such as that before a commit, while the
 * connection to ZooKeeper is interrupted and the session may still live.
 */
public enum WhenSuspended {

	/**
	 * It waits until the server has confirmed the lock, at most until the validity of the
	 * hold has run out, which loses it. The default: a short break then costs time and
	 * nothing else. The transaction, its connection and its row locks wait as well.
	 */
	WAIT,

	/**
	 * It fails at once, so a transaction rolls back. The lock does not count as lost, and
	 * later checks pass again when the server has confirmed it.
	 */
	FAIL

}
