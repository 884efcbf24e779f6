package io.holdfast.sample;

import java.time.Duration;

/**
 * Simulates work that takes time, such as requesting a price or computing a rule.
 */
public final class Pause {

	private Pause() {
	}

	public static void of(Duration duration) {
		if (duration.isZero()) {
			return;
		}
		try {
			Thread.sleep(duration.toMillis());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while processing an order", ex);
		}
	}

}
