package io.holdfast.sample;

import java.time.Duration;

/**
 * Stands for work that takes time: a price to ask for, a rule to compute.
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
			throw new IllegalStateException("Interrupted while an order was being thought over", ex);
		}
	}

}
