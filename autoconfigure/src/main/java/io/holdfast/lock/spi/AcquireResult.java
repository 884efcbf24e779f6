package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.concurrent.CompletionStage;

/**
 * What a store answered to one attempt to acquire.
 */
public sealed interface AcquireResult {

	/**
	 * The lock is the claim's.
	 *
	 * @param grant what was given
	 */
	record Acquired(Grant grant) implements AcquireResult {
	}

	/**
	 * Another holds it, or stands before the claim in the line.
	 *
	 * @param signal completes, on any thread and in any way, when to try again is worth
	 * it; may never complete, and may complete without need. It holds nothing in the
	 * store or in this JVM once the claim was granted or abandoned
	 * @param retryAfter when to try again at the latest, even without a signal: about
	 * when the present lease ends, bounded by the store's own polling interval
	 */
	record Contended(CompletionStage<?> signal, Duration retryAfter) implements AcquireResult {
	}

	/**
	 * Nobody knows: the store may have granted the claim without our hearing of it, or
	 * may still do so. To try again with the same owner is safe.
	 *
	 * @param cause why there was no answer
	 */
	record Indeterminate(Throwable cause) implements AcquireResult {
	}

}
