package io.holdfast.sample;

import java.time.Duration;

/**
 * Simulates work that takes time, such as requesting a price or computing a rule.
 */
final class Pause {

	private Pause() {
	}

	static void of(Duration duration) {
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
