package io.holdfast.lock;

import java.util.Locale;

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
	 * The store reported on its own that the lease is gone: its session ended, or its key
	 * was deleted.
	 */
	REVOKED,

	/**
	 * The hold exceeded its {@code maxHold}, so its lease was no longer renewed and
	 * expired.
	 */
	MAX_HOLD,

	/** The application stopped while the body was still running. */
	SHUTDOWN;

	/**
	 * Returns the cause as the value of a meter tag, such as {@code max-hold}.
	 * @return the value, in lower case
	 */
	public String tag() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
