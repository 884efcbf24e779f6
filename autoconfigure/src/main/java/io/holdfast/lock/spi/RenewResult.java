package io.holdfast.lock.spi;

import java.time.Duration;

/**
 * What a store answered to a renewal.
 */
public sealed interface RenewResult {

	/**
	 * The lease was still this owner's and starts anew.
	 *
	 * @param lease how long the store keeps it from when it received the request
	 */
	record Renewed(Duration lease) implements RenewResult {
	}

	/**
	 * The lease is no longer this owner's, for certain.
	 */
	record Refused() implements RenewResult {
	}

	/**
	 * Nobody knows: the hold stays valid as long as it was, and the renewal is tried
	 * again.
	 *
	 * @param cause why there was no answer
	 */
	record Indeterminate(Throwable cause) implements RenewResult {
	}

}
