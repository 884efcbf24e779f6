package io.holdfast.verification;

import java.util.List;
import java.util.Locale;

import io.holdfast.verification.History.Answer;
import io.holdfast.verification.History.Attempt;
import io.holdfast.verification.History.Incident;

/**
 * Draws a run as a page that a person can read: the faults on top, then a lane for each
 * product with the orders of both processes, and what was refused.
 */
final class Timeline {

	private static final double PIXELS_PER_SECOND = 40;

	private static final int LANE = 22;

	private static final int LEFT = 90;

	/** More would make a page that no browser likes to open. */
	private static final int MOST_ATTEMPTS = 20_000;

	private static final String STYLE = """
			body { font: 13px sans-serif } text { font: 11px sans-serif }
			.fault { fill: #f4c7c3 } .p0 { fill: #4a7fb5 } .p1 { fill: #6aa84f }
			.STALE { fill: #b00020 } .LOST { fill: #e69138 } .BUSY { fill: #999 } .other { fill: #000 }""";

	private Timeline() {
	}

	static String of(Verdict verdict, History history) {
		List<Long> products = history.attempts().stream().map(Attempt::product).distinct().sorted().toList();
		long last = history.attempts().stream().mapToLong(Attempt::end).max().orElse(0);
		int height = (products.size() + 3) * LANE;
		StringBuilder svg = new StringBuilder();
		history.incidents().forEach((incident) -> fault(svg, incident, height));
		for (int i = 0; i < products.size(); i++) {
			text(svg, 4, (i + 3) * LANE - 6, "product " + products.get(i));
		}
		history.attempts()
			.stream()
			.limit(MOST_ATTEMPTS)
			.forEach((attempt) -> attempt(svg, attempt, products.indexOf(attempt.product()) + 2));
		return """
				<!DOCTYPE html><meta charset="utf-8"><title>%1$s</title><style>%2$s</style>
				<h1>%1$s</h1><p>%3$d orders, %4$d lost updates, %5$d faults. Blue and green: orders of the two processes, from request to
				answer. Red: refused by the fence; orange: lease lost; grey: busy; black: other failures. Pink: faults.</p>
				<svg width="%6$.0f" height="%7$d">%8$s</svg>
				"""
			.formatted(verdict.store() + ", fencing " + (verdict.fenced() ? "on" : "off"), STYLE, verdict.orders(),
					verdict.lost(), verdict.faultCount(), x(last) + LEFT, height, svg);
	}

	private static void fault(StringBuilder svg, Incident incident, int height) {
		rectangle(svg, "fault", incident.begin(), incident.end(), 0, height);
		text(svg, x(incident.begin()), 12, incident.kind() + " " + incident.process());
	}

	private static void attempt(StringBuilder svg, Attempt attempt, int lane) {
		boolean placed = attempt.answer() == Answer.PLACED;
		String look = switch (attempt.answer()) {
			case PLACED -> "p" + attempt.process();
			case STALE, LOST, BUSY -> attempt.answer().name();
			default -> "other";
		};
		long begin = placed ? attempt.begin() : attempt.end() - 25;
		rectangle(svg, look, begin, attempt.end(), lane * LANE + attempt.process() * LANE / 2, LANE / 2 - 1);
	}

	private static void rectangle(StringBuilder svg, String look, long begin, long end, int y, int height) {
		svg.append(String.format(Locale.ROOT, "<rect class='%s' x='%.1f' y='%d' width='%.1f' height='%d'/>", look,
				x(begin), y, Math.max(1, x(end) - x(begin)), height));
	}

	private static void text(StringBuilder svg, double x, int y, String text) {
		svg.append(String.format(Locale.ROOT, "<text x='%.1f' y='%d'>%s</text>", x, y, text));
	}

	private static double x(long millis) {
		return LEFT + millis * PIXELS_PER_SECOND / 1_000;
	}

}
