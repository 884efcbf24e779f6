package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Locale;

/**
 * Durations as people read them in a message: {@code 5s}, {@code 250ms}, {@code 1.5s}.
 */
final class Durations {

	private Durations() {
	}

	static String text(Duration duration) {
		return text(duration.toNanos());
	}

	static String text(long nanos) {
		long micros = nanos / 1_000;
		if (micros < 1_000_000) {
			return decimal(micros / 1_000.0) + "ms";
		}
		return decimal(micros / 1_000_000.0) + "s";
	}

	private static String decimal(double value) {
		String text = String.format(Locale.ROOT, "%.2f", value);
		return text.replaceAll("\\.?0+$", "");
	}

}
