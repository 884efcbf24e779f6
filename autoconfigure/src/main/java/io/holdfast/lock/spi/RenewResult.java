package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The result of a renewal.
 */
public sealed interface RenewResult {

	/**
	 * Returns whether the lease was restarted.
	 * @return {@code true} if it was renewed, {@code false} if the store rejected that;
	 * fails with the cause if the outcome is unknown
	 */
	default CompletionStage<Boolean> isRenewed() {
		return (this instanceof Indeterminate unknown) ? CompletableFuture.failedStage(unknown.cause())
				: CompletableFuture.completedStage(this instanceof Renewed);
	}

	/**
	 * The lease still belonged to this owner and was restarted.
	 *
	 * @param lease the time for which the store keeps the lock, counted from when it
	 * received the request
	 */
	record Renewed(Duration lease) implements RenewResult {
	}

	/**
	 * The lease no longer belongs to this owner, with certainty.
	 */
	record Refused() implements RenewResult {
	}

	/**
	 * The outcome is unknown: the validity of the hold remains unchanged, and the renewal
	 * is retried.
	 *
	 * @param cause the reason why there was no answer
	 */
	record Indeterminate(Throwable cause) implements RenewResult {
	}

}
