package io.holdfast.verification.benchmark;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * The results of all rounds, as a table for each store and as a picture.
 */
final class BenchmarkReport {

	private static final int BAR_HEIGHT = 14;

	private static final int LEFT = 190;

	private static final int WIDTH = 640;

	/** Ratios beyond this are drawn at the end of the logarithmic axis. */
	private static final double MOST = 100;

	private static final double LEAST = 0.01;

	/** By store, workload, and library: one entry for each round. */
	private final Map<String, Map<Workload, Map<Library, List<Round>>>> rounds = new LinkedHashMap<>();

	private final Map<String, Map<Library, Comparison.Footprint>> footprints = new LinkedHashMap<>();

	/**
	 * One library in one round.
	 *
	 * @param result its result
	 * @param ratio its pairs per second, as a multiple of the limit in the same round
	 */
	private record Round(RoundResult result, double ratio) {

	}

	void add(String store, Workload workload, Map<Library, RoundResult> results) {
		double limit = results.getOrDefault(Library.RAW, RoundResult.ofPair(1)).pairsPerSecond();
		Map<Library, List<Round>> all = this.rounds.computeIfAbsent(store, (added) -> new EnumMap<>(Workload.class))
			.computeIfAbsent(workload, (added) -> new EnumMap<>(Library.class));
		results.forEach((library, result) -> all.computeIfAbsent(library, (added) -> new ArrayList<>())
			.add(new Round(result, result.pairsPerSecond() / limit)));
	}

	void addFootprints(String store, Map<Library, Comparison.Footprint> measured) {
		this.footprints.put(store, measured);
	}

	long breaches() {
		return this.rounds.values()
			.stream()
			.flatMap((workloads) -> workloads.values().stream())
			.flatMap((libraries) -> libraries.entrySet().stream())
			.filter((entry) -> entry.getKey().isOurs())
			.flatMap((entry) -> entry.getValue().stream())
			.mapToLong((round) -> round.result().breaches())
			.sum();
	}

	private static double median(List<Round> rounds, ToDoubleFunction<Round> value) {
		double[] sorted = rounds.stream().mapToDouble(value).sorted().toArray();
		return sorted[sorted.length / 2];
	}

	/** Returns the tables: medians, and the least and greatest round in parentheses. */
	String toMarkdown() {
		StringBuilder text = new StringBuilder();
		this.rounds.forEach((store, workloads) -> {
			text.append("## %s%n%n".formatted(store));
			text.append(
					"| workload | library | × limit (min – max) | pairs/s | p99 ms | fair | CPU µs/pair | requests/pair | breaches |%n"
						.formatted());
			text.append("| --- | --- | --- | --- | --- | --- | --- | --- | --- |%n".formatted());
			workloads.forEach((workload, libraries) -> libraries
				.forEach((library, all) -> text.append(line(workload, library, all))));
			text.append(System.lineSeparator());
		});
		this.footprints.forEach((store, libraries) -> text.append(footprintsToMarkdown(store, libraries)));
		return text.toString();
	}

	private static String footprintsToMarkdown(String store, Map<Library, Comparison.Footprint> libraries) {
		StringBuilder text = new StringBuilder(
				"## %s, left by a key%n%n| library | bytes in the process | keys in the store |%n| --- | --- | --- |%n"
					.formatted(store));
		libraries.forEach((library, left) -> text.append(String.format(Locale.ROOT, "| %s | %d | %.2f |%n",
				library.name().toLowerCase(Locale.ROOT), left.bytes(), left.keysInStore())));
		return text.append(System.lineSeparator()).toString();
	}

	private static String line(Workload workload, Library library, List<Round> all) {
		double pairs = median(all, (round) -> round.result().pairsPerSecond());
		return String.format(Locale.ROOT, "| %s | %s | %.2f (%.2f – %.2f) | %,.0f | %.2f | %.2f | %.1f | %.2f | %d |%n",
				workload.text, library.name().toLowerCase(Locale.ROOT), median(all, Round::ratio),
				all.stream().mapToDouble(Round::ratio).min().orElse(0),
				all.stream().mapToDouble(Round::ratio).max().orElse(0), pairs,
				median(all, (round) -> round.result().p99Nanos() / 1e6),
				median(all, (round) -> round.result().fairness()),
				median(all, (round) -> round.result().cpuNanos() / 1e3 / Math.max(1, round.result().pairs())),
				median(all, (round) -> round.result().requestsPerPair()),
				all.stream().mapToLong((round) -> round.result().breaches()).sum());
	}

	/** Returns the median ratios as bars on a logarithmic axis. */
	String toSvg() {
		StringBuilder bars = new StringBuilder();
		int[] y = { 20 };
		this.rounds.forEach((store, workloads) -> workloads.forEach((workload, libraries) -> {
			bars.append(text(4, y[0], "%s %s (%s)".formatted(store, workload.text, workload.meaning)));
			libraries.forEach((library, all) -> {
				y[0] += BAR_HEIGHT;
				bars.append(bar(y[0], library, median(all, Round::ratio)));
			});
			y[0] += 2 * BAR_HEIGHT;
		}));
		return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">%n%s</svg>%n"
			.formatted(LEFT + WIDTH + 60, y[0], bars);
	}

	private static String bar(int y, Library library, double ratio) {
		double share = Math.log(Math.min(MOST, Math.max(LEAST, ratio)) / LEAST) / Math.log(MOST / LEAST);
		String color = library.isOurs() ? "#2a7" : (library == Library.RAW) ? "#999" : "#b96";
		return text(14, y, library.name().toLowerCase(Locale.ROOT))
				+ String.format(Locale.ROOT, "<rect x=\"%d\" y=\"%d\" width=\"%.0f\" height=\"%d\" fill=\"%s\"/>%n",
						LEFT, y - BAR_HEIGHT + 4, share * WIDTH, BAR_HEIGHT - 3, color)
				+ text((int) (LEFT + 4 + share * WIDTH), y, String.format(Locale.ROOT, "%.2f", ratio));
	}

	private static String text(int x, int y, String text) {
		return "<text x=\"%d\" y=\"%d\">%s</text>%n".formatted(x, y, text);
	}

}
