package io.holdfast.lock;

/**
 * The reason why a hold ended before its holder released it.
 */
public enum LossCause {

	/**
	 * The store rejected a renewal or a release because the lease no longer belongs to
	 * this owner.
	 */
	REFUSED,

	/**
	 * The validity ended before the store answered a renewal, or while no renewal was
	 * due.
	 */
	EXPIRED,

	/**
	 * The store reported on its own that the lease is gone: its session ended, or the
	 * lease was revoked.
	 */
	REVOKED,

	/**
	 * The hold exceeded its {@code maxHold}, so its lease was no longer renewed and
	 * expired.
	 */
	MAX_HOLD,

	/** The application stopped while the body was still running. */
	SHUTDOWN,

	/**
	 * An operator released the lock by force, in this instance. Holders in other
	 * instances report {@link #REFUSED} or {@link #REVOKED}.
	 */
	FORCED

}
