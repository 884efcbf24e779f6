package io.holdfast.lock.test.contract;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.holdfast.lock.spi.AcquireResult.Contended;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A refusal and the time at which it arrived, to verify when the waiter may retry.
 *
 * @param refusal the response to the attempt
 * @param since the arrival time of the response, in {@link System#nanoTime()}
 */
record RetryHint(Contended refusal, long since) {

	RetryHint(Contended refusal) {
		this(refusal, System.nanoTime());
	}

	/**
	 * Waits until the waiter should retry, due to the signal or, for a store that polls,
	 * due to {@code retryAfter}. Asserts that this takes no longer than
	 * {@link Bench#bound()}.
	 */
	void awaitSoon(Bench bench) throws InterruptedException {
		long pause = this.refusal.retryAfter().toNanos() - (System.nanoTime() - this.since);
		long longest = bench.bound().toNanos();
		try {
			this.refusal.signal().toCompletableFuture().get(Math.min(pause, longest), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			assertThat(pause).as("pause of a waiter that got no signal").isLessThanOrEqualTo(longest);
		}
		catch (ExecutionException ex) {
			// a failed signal is a signal, too
		}
	}

}
