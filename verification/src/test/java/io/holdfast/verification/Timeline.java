package io.holdfast.verification;

import java.util.List;
import java.util.Locale;

import io.holdfast.verification.History.Answer;
import io.holdfast.verification.History.Attempt;
import io.holdfast.verification.History.Incident;
import io.holdfast.verification.Holders.Span;

/**
 * Draws a run as an HTML page: the faults at the top, then one lane for each lock with
 * its holders and the rejected attempts.
 */
final class Timeline {

	private static final double PIXELS_PER_SECOND = 40;

	private static final int LANE = 22;

	private static final int LEFT = 90;

	/** The limit per lock, because browsers cannot handle larger pages well. */
	private static final int MOST_OF_A_LOCK = 2_000;

	/** The width of a rejected attempt in milliseconds, because it has no duration. */
	private static final int REFUSAL = 25;

	private static final String STYLE = """
			body { font: 13px sans-serif } text { font: 11px sans-serif }
			.fault { fill: #f4c7c3 } .p0 { fill: #4a7fb5 } .p1 { fill: #6aa84f }
			.STALE { fill: #b00020 } .LOST { fill: #e69138 } .BUSY { fill: #999 } .other { fill: #000 }""";

	private Timeline() {
	}

	static String of(RunResult result, History history, Holders holders) {
		List<String> locks = holders.locks();
		long last = history.attempts().stream().mapToLong(Attempt::end).max().orElse(0);
		int height = (locks.size() + 3) * LANE;
		StringBuilder svg = new StringBuilder();
		history.incidents().forEach((incident) -> fault(svg, incident, height));
		for (int i = 0; i < locks.size(); i++) {
			String lock = locks.get(i);
			int lane = i + 2;
			text(svg, 4, (lane + 1) * LANE - 6, lock);
			holders.of(lock).stream().limit(MOST_OF_A_LOCK).forEach((span) -> held(svg, span, history, lane));
			history.attempts()
				.stream()
				.filter((attempt) -> attempt.answer() != Answer.PLACED && lock.endsWith(":" + attempt.product()))
				.limit(MOST_OF_A_LOCK)
				.forEach((attempt) -> refused(svg, attempt, lane));
		}
		return """
				<!DOCTYPE html><meta charset="utf-8"><title>%1$s</title><style>%2$s</style>
				<h1>%1$s</h1><p>%3$d orders, %4$d lost updates, %5$d double holders, %6$d faults. Blue and green: transactions of the two
				processes under the lock of the lane. Red: refused by the fence; orange: lease lost; grey: busy; black: other
				failures. Pink: faults.</p>
				<svg width="%7$.0f" height="%8$d">%9$s</svg>
				"""
			.formatted(result.store() + ", fencing " + (result.fenced() ? "on" : "off"), STYLE, result.orders(),
					result.lost(), result.doubled(), result.faultCount(), x(last) + LEFT, height, svg);
	}

	private static void fault(StringBuilder svg, Incident incident, int height) {
		rectangle(svg, "fault", incident.begin(), incident.end(), 0, height);
		text(svg, x(incident.begin()), 12, incident.kind() + " " + incident.process());
	}

	private static void held(StringBuilder svg, Span span, History history, int lane) {
		rectangle(svg, "p" + span.process(), history.at(span.begin()), history.at(span.end()),
				lane * LANE + span.process() * LANE / 2, LANE / 2 - 1);
	}

	private static void refused(StringBuilder svg, Attempt attempt, int lane) {
		String style = switch (attempt.answer()) {
			case STALE, LOST, BUSY -> attempt.answer().name();
			default -> "other";
		};
		rectangle(svg, style, attempt.end() - REFUSAL, attempt.end(), lane * LANE + attempt.process() * LANE / 2,
				LANE / 2 - 1);
	}

	private static void rectangle(StringBuilder svg, String style, long begin, long end, int y, int height) {
		svg.append(String.format(Locale.ROOT, "<rect class='%s' x='%.1f' y='%d' width='%.1f' height='%d'/>", style,
				x(begin), y, Math.max(1, x(end) - x(begin)), height));
	}

	private static void text(StringBuilder svg, double x, int y, String text) {
		svg.append(String.format(Locale.ROOT, "<text x='%.1f' y='%d'>%s</text>", x, y, text));
	}

	private static double x(long millis) {
		return LEFT + millis * PIXELS_PER_SECOND / 1_000;
	}

}
