package io.holdfast.sample.sale;

import java.util.Locale;

import com.fasterxml.jackson.annotation.JsonValue;

/**
 * A step of a buyer.
 */
enum SaleStep {

	/** Requested the lock. */
	WAITS,

	/** Got the lock, with a token. */
	ACQUIRED,

	/** Read the stock. */
	READ,

	/** Stopped for longer than its lease. */
	PAUSED,

	/** Lost the lock, because its lease expired. */
	LOST,

	/** Wrote the stock, in a transaction that has not committed yet. */
	WROTE,

	/** Released the lock before the commit. */
	RELEASED,

	/** Committed its order. */
	SOLD,

	/** Could not commit, because it had lost the lock. */
	REFUSED,

	/** Ordered nothing for another reason, such as an unavailable store. */
	FAILED;

	@Override
	@JsonValue
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
