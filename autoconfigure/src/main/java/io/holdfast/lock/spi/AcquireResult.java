package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The result of one attempt to acquire a lock.
 */
public sealed interface AcquireResult {

	/**
	 * The store granted the lock to the claim.
	 *
	 * @param grant the grant
	 */
	record Acquired(Grant grant) implements AcquireResult {
	}

	/**
	 * Another owner holds the lock or precedes the claim in the wait queue.
	 *
	 * @param signal completes, on any thread and with any result, when a retry is
	 * worthwhile. May never complete, and may complete spuriously. It keeps no state in
	 * the store or in this JVM after the claim was granted or abandoned. A
	 * {@link KeptLock} as result may replace the retry
	 * @param retryAfter the time after which to retry at the latest, even without a
	 * signal: about when the current lease expires, bounded by the store's own polling
	 * interval
	 * @param demanded whether the holder has a sticky lease, and its instance was asked
	 * to release it if no hold uses it. A claim that does not wait is then made once more
	 */
	record Contended(CompletionStage<?> signal, Duration retryAfter, boolean demanded) implements AcquireResult {

		/**
		 * Creates the result of a store that has asked no instance for its lease.
		 * @param signal completes when a retry is worthwhile
		 * @param retryAfter the time after which to retry at the latest
		 */
		public Contended(CompletionStage<?> signal, Duration retryAfter) {
			this(signal, retryAfter, false);
		}

		/**
		 * Creates the result of a store that does not notify this claim.
		 * @param retryAfter the time after which to retry
		 * @return a result whose signal never completes
		 */
		public static Contended polled(Duration retryAfter) {
			return polled(retryAfter, false);
		}

		/**
		 * Creates the result of a store that does not notify this claim, but may have
		 * asked an instance for its lease.
		 * @param retryAfter the time after which to retry
		 * @param demanded whether an instance was asked for its lease
		 * @return a result whose signal never completes
		 */
		public static Contended polled(Duration retryAfter, boolean demanded) {
			return new Contended(new CompletableFuture<>().minimalCompletionStage(), retryAfter, demanded);
		}

	}

	/**
	 * The outcome is unknown: the store may have granted the claim although no answer
	 * arrived, or may still grant it. A retry with the same owner is safe.
	 *
	 * @param cause the reason why there was no answer
	 */
	record Indeterminate(Throwable cause) implements AcquireResult {
	}

}
