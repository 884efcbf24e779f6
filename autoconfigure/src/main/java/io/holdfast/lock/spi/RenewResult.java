package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * What a store answered to a renewal.
 */
public sealed interface RenewResult {

	/**
	 * Whether the lease starts anew.
	 * @return {@code true} if it was renewed, {@code false} if that was refused; fails
	 * with its cause if the outcome is unknown
	 */
	default CompletionStage<Boolean> isRenewed() {
		return (this instanceof Indeterminate unknown) ? CompletableFuture.failedStage(unknown.cause())
				: CompletableFuture.completedStage(this instanceof Renewed);
	}

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
