package io.holdfast.verification.benchmark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

import io.holdfast.verification.benchmark.GrowthBenchmark.Curve;

/**
 * Curves of growth, as a table and as a picture with one diagram for each kind of growth.
 */
final class GrowthReport {

	private static final List<String> COLORS = List.of("#888", "#c33", "#e80", "#27a", "#2a7", "#83b");

	private static final int WIDTH = 300;

	private static final int HEIGHT = 200;

	private static final int MARGIN = 60;

	/** The axis of pairs per second, in powers of ten. */
	private static final int LEAST = 2;

	private static final int MOST = 7;

	private final Map<Curve, Map<String, List<Point>>> curves = new EnumMap<>(Curve.class);

	private long breaches;

	/**
	 * One size of one store.
	 *
	 * @param size the size
	 * @param pairs pairs of acquire and release per second
	 * @param limit the limit of the store in the same rounds; zero if not measured
	 * @param requests the requests for each pair
	 */
	private record Point(int size, double pairs, double limit, double requests) {

	}

	void add(String store, Curve curve, int size, List<Map<Library, RoundResult>> rounds) {
		this.breaches += rounds.stream().mapToLong((round) -> round.get(Library.HOLDFAST).breaches()).sum();
		add(store, curve,
				new Point(size, median(rounds, Library.HOLDFAST, RoundResult::pairsPerSecond),
						median(rounds, Library.RAW, RoundResult::pairsPerSecond),
						median(rounds, Library.HOLDFAST, RoundResult::requestsPerPair)));
	}

	void addWaiters(String store, int waiters, long[] nanos, long requests) {
		long[] sorted = nanos.clone();
		Arrays.sort(sorted);
		add(store, Curve.WAITERS, new Point(waiters, waiters * 1e9 / sorted[sorted.length / 2], 0,
				(double) requests / waiters / nanos.length));
	}

	private void add(String store, Curve curve, Point point) {
		this.curves.computeIfAbsent(curve, (added) -> new LinkedHashMap<>())
			.computeIfAbsent(store, (added) -> new ArrayList<>())
			.add(point);
	}

	private static double median(List<Map<Library, RoundResult>> rounds, Library library,
			ToDoubleFunction<RoundResult> value) {
		double[] sorted = rounds.stream()
			.mapToDouble((round) -> value.applyAsDouble(round.get(library)))
			.sorted()
			.toArray();
		return sorted[sorted.length / 2];
	}

	long breaches() {
		return this.breaches;
	}

	/** Returns a table for each curve: pairs per second, share of the limit, requests. */
	String toMarkdown() {
		StringBuilder text = new StringBuilder();
		this.curves.forEach((curve, stores) -> {
			text.append("## %s%n%n| store |".formatted(curve.meaning));
			for (int size : curve.sizes) {
				text.append(String.format(Locale.ROOT, " %,d |", size));
			}
			text.append("%n|%s%n".formatted(" --- |".repeat(curve.sizes.length + 1)));
			stores.forEach((store, points) -> {
				text.append("| ").append(store).append(" |");
				points.forEach((point) -> text.append(cell(point)));
				text.append(System.lineSeparator());
			});
			text.append(System.lineSeparator());
		});
		return text.toString();
	}

	private static String cell(Point point) {
		String limit = (point.limit() > 0) ? String.format(Locale.ROOT, ", × %.2f", point.pairs() / point.limit()) : "";
		return String.format(Locale.ROOT, " %,.0f/s%s, %.2f requests |", point.pairs(), limit, point.requests());
	}

	/** Returns a diagram for each curve, with logarithmic axes; limits are dashed. */
	String toSvg() {
		StringBuilder diagrams = new StringBuilder();
		int x = MARGIN;
		for (Map.Entry<Curve, Map<String, List<Point>>> curve : this.curves.entrySet()) {
			diagrams.append("<g transform=\"translate(%d,30)\">%n".formatted(x))
				.append(diagram(curve.getKey(), curve.getValue()))
				.append("</g>%n".formatted());
			x += WIDTH + MARGIN;
		}
		return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">%n%s</svg>%n"
			.formatted(x, HEIGHT + 90, diagrams);
	}

	private static String diagram(Curve curve, Map<String, List<Point>> stores) {
		StringBuilder lines = new StringBuilder(text(0, -12, "pairs/s"));
		lines.append(text(0, HEIGHT + 32, curve.meaning));
		for (int power = LEAST; power <= MOST; power++) {
			int y = y(Math.pow(10, power));
			lines.append("<path d=\"M0 %d H%d\" stroke=\"#ddd\"/>%n".formatted(y, WIDTH))
				.append(text(-32, y + 4, "10^" + power));
		}
		for (int size : curve.sizes) {
			lines.append(text(x(curve, size) - 4, HEIGHT + 16, Integer.toString(size)));
		}
		int label = 0;
		for (Map.Entry<String, List<Point>> store : stores.entrySet()) {
			String color = COLORS.get(label % COLORS.size());
			lines.append(line(curve, store.getValue(), Point::pairs, color, ""));
			lines.append(line(curve, store.getValue(), Point::limit, color, " stroke-dasharray=\"3\""));
			lines.append("<g fill=\"%s\">%s</g>%n".formatted(color, text(50 * label++, HEIGHT + 50, store.getKey())));
		}
		return lines.toString();
	}

	private static String line(Curve curve, List<Point> points, ToDoubleFunction<Point> value, String color,
			String style) {
		StringBuilder path = new StringBuilder();
		points.stream()
			.filter((point) -> value.applyAsDouble(point) > 0)
			.forEach((point) -> path.append((path.length() == 0) ? "M" : " L")
				.append(x(curve, point.size()))
				.append(' ')
				.append(y(value.applyAsDouble(point))));
		return "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s/>%n".formatted(path, color, style);
	}

	private static int x(Curve curve, int size) {
		double least = Math.log(curve.sizes[0]);
		return (int) (WIDTH * (Math.log(size) - least) / (Math.log(curve.sizes[curve.sizes.length - 1]) - least));
	}

	private static int y(double pairs) {
		double power = Math.min(MOST, Math.max(LEAST, Math.log10(pairs)));
		return (int) (HEIGHT * (MOST - power) / (MOST - LEAST));
	}

	private static String text(int x, int y, String text) {
		return "<text x=\"%d\" y=\"%d\">%s</text>%n".formatted(x, y, text);
	}

}
