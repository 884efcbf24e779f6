package io.holdfast.lock;

import java.util.Locale;

/**
 * Why a hold ended before its holder let go.
 */
public enum LossCause {

	/** The store answered a renewal with: this lease is no longer yours. */
	REFUSED,

	/**
	 * The validity ran out before the store answered a renewal, or without one being due.
	 */
	EXPIRED,

	/**
	 * The store said by itself that the lease is gone: its session ended, its key was
	 * deleted.
	 */
	REVOKED,

	/**
	 * The hold was longer than its {@code maxHold}: it was no longer renewed and ran out.
	 */
	MAX_HOLD,

	/** The application stopped while the body was still running. */
	SHUTDOWN;

	/**
	 * The cause as the value of a meter's tag, such as {@code max-hold}.
	 * @return the value, in lower case
	 */
	public String tag() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
