package io.holdfast.lock.test.contract;

import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.holdfast.lock.spi.AcquireResult.Contended;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What one refused attempt was told about when to come again, from when it was told.
 *
 * @param refusal the answer
 * @param since when it came
 */
record Turn(Contended refusal, long since) {

	Turn(Contended refusal) {
		this(refusal, System.nanoTime());
	}

	/**
	 * The waiter is told to ask again soon, by the signal or, where a store polls, by the
	 * pause.
	 */
	void comesSoon(Bench bench) throws InterruptedException {
		long pause = this.refusal.retryAfter().toNanos() - (System.nanoTime() - this.since);
		long longest = bench.bound().toNanos();
		try {
			this.refusal.signal().toCompletableFuture().get(Math.min(pause, longest), TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			assertThat(pause).as("pause of a waiter that got no signal").isLessThanOrEqualTo(longest);
		}
		catch (ExecutionException ex) {
			// a signal is one in whichever way it completes
		}
	}

}
