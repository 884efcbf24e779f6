package io.holdfast.lock.spi;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The result of a release.
 */
public sealed interface ReleaseResult {

	/**
	 * Returns whether the lease has ended by this release.
	 * @return {@code true} if it was released, {@code false} if it no longer belonged to
	 * this owner; fails with the cause if the outcome is unknown
	 */
	default CompletionStage<Boolean> isReleased() {
		return (this instanceof Indeterminate unknown) ? CompletableFuture.failedStage(unknown.cause())
				: CompletableFuture.completedStage(this instanceof Released);
	}

	/** The lease belonged to this owner and has ended. */
	record Released() implements ReleaseResult {
	}

	/** The lease no longer belonged to this owner; nothing was changed. */
	record NotHeld() implements ReleaseResult {
	}

	/**
	 * The outcome is unknown: the store may still keep the lease. A repeated release is
	 * safe.
	 *
	 * @param cause the reason why there was no answer
	 */
	record Indeterminate(Throwable cause) implements ReleaseResult {
	}

}
