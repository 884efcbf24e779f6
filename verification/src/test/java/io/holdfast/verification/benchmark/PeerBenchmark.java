package io.holdfast.verification.benchmark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the locks of this library with those of others, and with the limit of each
 * store. It is not part of the build and is run by name, with these system properties:
 * <ul>
 * <li>{@code benchmark}: a regular expression for {@code store/workload}; all by
 * default</li>
 * <li>{@code benchmark.rounds}: the number of rounds, 3 by default</li>
 * <li>{@code benchmark.millis}: the length of a round, 300 by default</li>
 * </ul>
 * It writes {@code report.md} and {@code report.svg} to {@code target/benchmark}.
 */
class PeerBenchmark {

	private static final List<String> STORES = List.of("local", "h2", "redis", "redlock", "zookeeper", "etcd", "jdbc");

	/** Not a workload: what many keys leave behind, each locked once. */
	private static final String FOOTPRINT = "e";

	/** The most processes of a workload. */
	private static final int PROCESSES = 2;

	/** The rounds of each workload that only warm up. */
	private static final int WARM_UP_ROUNDS = 1;

	/** The rounds of code that several workloads share, before the first workload. */
	private static final int FIRST_WARM_UP_ROUNDS = 10;

	/** Two threads of different processes, which pass one lock to each other. */
	private static final Work HANDOVERS = new Work("handovers", 1, 1, 0);

	/** How many times as long the first rounds of a store are. */
	private static final Map<String, Integer> LONGER_WARM_UP = Map.of(
			// without a server to wait for, the compiler decides the figures
			"local", 2, "h2", 2,
			// ten requests make few pairs a second, of more code than others have
			"redlock", 4,
			// few pairs a second as well
			"zookeeper", 2, "etcd", 3);

	private static final Path DIRECTORY = Path.of("target", "benchmark");

	@Test
	void compare() throws Exception {
		Pattern wanted = Pattern.compile(System.getProperty("benchmark", ".*"));
		BenchmarkReport report = run(wanted, Integer.getInteger("benchmark.rounds", 3),
				Long.getLong("benchmark.millis", 300), BenchmarkChild.COMPILE_EARLY);
		assertThat(report.toMarkdown()).as("the stores and workloads that match '%s'", wanted).isNotEmpty();
		assertThat(report.breaches()).isZero();
	}

	static BenchmarkReport run(Pattern wanted, int rounds, long millis, String compilation)
			throws IOException, InterruptedException {
		Files.createDirectories(DIRECTORY);
		BenchmarkReport report = new BenchmarkReport();
		for (String store : STORES) {
			List<Workload> workloads = Stream.of(Workload.values())
				.filter((workload) -> workload.appliesTo(store))
				.filter((workload) -> wanted.matcher(store + "/" + workload.text).matches())
				.toList();
			boolean withFootprints = wanted.matcher(store + "/" + FOOTPRINT).matches();
			if (!workloads.isEmpty() || withFootprints) {
				compare(store, workloads, withFootprints, rounds, millis, compilation, report);
				Files.writeString(DIRECTORY.resolve("report.md"), report.toMarkdown());
				Files.writeString(DIRECTORY.resolve("report.svg"), report.toSvg());
			}
		}
		return report;
	}

	private static void compare(String store, List<Workload> workloads, boolean withFootprints, int rounds, long millis,
			String compilation, BenchmarkReport report) throws IOException, InterruptedException {
		try (Comparison comparison = new Comparison(new Servers(store), Library.on(store),
				Workload.D0.appliesTo(store) ? PROCESSES : 1, compilation)) {
			warmUp(comparison, workloads, LONGER_WARM_UP.getOrDefault(store, 1) * millis, millis);
			for (Workload workload : workloads) {
				for (int number = 0; number < WARM_UP_ROUNDS; number++) {
					comparison.round(workload, number, millis);
				}
				for (int number = 1; number <= rounds; number++) {
					report.add(store, workload, comparison.round(workload, number, millis));
				}
			}
			if (withFootprints) {
				report.addFootprints(store, comparison.footprints());
			}
		}
	}

	/**
	 * The compiler of each process first needs seconds of the code that all workloads
	 * share. Workloads with a millisecond of work, and those of two processes, have too
	 * few rounds for it.
	 */
	private static void warmUp(Comparison comparison, List<Workload> workloads, long sharedMillis, long millis)
			throws IOException, InterruptedException {
		int processes = workloads.stream().mapToInt((workload) -> workload.processes).max().orElse(1);
		comparison.round(Workload.B.work, processes, 0, FIRST_WARM_UP_ROUNDS * sharedMillis);
		comparison.round(Workload.A.work, 1, 0, FIRST_WARM_UP_ROUNDS * sharedMillis);
		if (processes > 1) {
			comparison.round(HANDOVERS, processes, 0, FIRST_WARM_UP_ROUNDS * millis / 2);
			comparison.round(Workload.D0.work, processes, 0, FIRST_WARM_UP_ROUNDS * millis);
		}
		else {
			comparison.round(Workload.C0.work, 1, 0, FIRST_WARM_UP_ROUNDS * millis);
		}
	}

}
