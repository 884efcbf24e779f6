package io.holdfast.lock.support;

import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * Formats durations for messages in a readable form: {@code 250ms}, {@code 1.5s},
 * {@code 366d}. Rounds to two decimals.
 */
public final class DurationText {

	private static final long MICROS_PER_DAY = TimeUnit.DAYS.toMicros(1);

	private static final Pattern WITHOUT_UNIT = Pattern.compile("[+-]?\\d*[1-9]\\d*");

	private DurationText() {
	}

	/**
	 * Returns whether a text is a number without a unit. Spring Boot would read it as
	 * milliseconds, which is rarely intended.
	 * @param text the text, without surrounding white space
	 * @return {@code false} for zero, which needs no unit
	 */
	public static boolean lacksUnit(String text) {
		return WITHOUT_UNIT.matcher(text).matches();
	}

	/**
	 * Returns the text of a duration.
	 * @param duration the duration; longer ones than 292 years are shown as 292 years
	 * @return the text
	 */
	public static String of(Duration duration) {
		return ofNanos(TimeUnit.NANOSECONDS.convert(duration));
	}

	/**
	 * Returns the text of a duration in nanoseconds.
	 * @param nanos the duration
	 * @return the text
	 */
	public static String ofNanos(long nanos) {
		long micros = nanos / 1_000;
		if (Math.abs(micros) < 1_000_000) {
			return decimal(micros / 1_000.0) + "ms";
		}
		return (micros % MICROS_PER_DAY == 0) ? micros / MICROS_PER_DAY + "d" : decimal(micros / 1_000_000.0) + "s";
	}

	private static String decimal(double value) {
		String text = String.format(Locale.ROOT, "%.2f", value);
		return text.replaceAll("\\.?0+$", "");
	}

}
