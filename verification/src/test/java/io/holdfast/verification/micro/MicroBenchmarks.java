package io.holdfast.verification.micro;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.ChainedOptionsBuilder;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

import io.holdfast.lock.LockOperations;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs {@link EngineBenchmark}, {@link InterceptorBenchmark}, {@link MonitoringBenchmark}
 * and {@link DatabaseBenchmark}. It is not part of the build and is run by name, with
 * these system properties:
 * <ul>
 * <li>{@code benchmark}: a regular expression for {@code class.method}; all by
 * default</li>
 * <li>{@code benchmark.before}: the classes of another version, which is measured beside
 * this one in interleaved rounds; absent by default</li>
 * <li>{@code benchmark.rounds}: the number of rounds, 5 by default; each starts a process
 * for each benchmark and version</li>
 * <li>{@code benchmark.warmup}: the seconds before each measurement, 4 by default; a busy
 * machine needs more, because it compiles more slowly</li>
 * </ul>
 * It writes the medians to {@code target/benchmark/micro.md}.
 */
class MicroBenchmarks {

	private static final String BYTES = "gc.alloc.rate.norm";

	private static final String CLASS_PATH = "java.class.path";

	/** The figures of each benchmark and version, one for each round. */
	private final Map<String, List<Figures>> figures = new TreeMap<>();

	@Test
	void measure() throws Exception {
		String ours = System.getProperty(CLASS_PATH);
		String before = System.getProperty("benchmark.before");
		for (int round = 0; round < Integer.getInteger("benchmark.rounds", 5); round++) {
			if (before != null) {
				run("before", withLibrary(ours, Path.of(before).toAbsolutePath()));
			}
			run("now", ours);
		}
		Path directory = Files.createDirectories(Path.of("target", "benchmark"));
		Files.writeString(directory.resolve("micro.md"), report());
		assertThat(this.figures).isNotEmpty();
	}

	/** The processes that measure get the class path of this one. */
	private void run(String version, String classPath) throws RunnerException {
		String own = System.getProperty(CLASS_PATH);
		System.setProperty(CLASS_PATH, classPath);
		try {
			for (RunResult result : new Runner(options(System.getProperty("benchmark", ".*")).forks(1)
				.jvmArgs("-Xmx512m", "-XX:+UseSerialGC")
				.warmupIterations(Integer.getInteger("benchmark.warmup", 4))
				.warmupTime(TimeValue.seconds(1))
				.measurementIterations(3)
				.measurementTime(TimeValue.seconds(1))
				.build()).run()) {
				String benchmark = result.getParams().getBenchmark();
				this.figures
					.computeIfAbsent(benchmark.substring(getClass().getPackageName().length() + 1) + " | " + version,
							(name) -> new ArrayList<>())
					.add(Figures.of(result));
			}
		}
		finally {
			System.setProperty(CLASS_PATH, own);
		}
	}

	/** Returns the options of all benchmarks that match, without their length. */
	static ChainedOptionsBuilder options(String wanted) {
		return new OptionsBuilder().include("\\.micro\\.(" + wanted + ")$")
			.mode(Mode.AverageTime)
			.timeUnit(TimeUnit.NANOSECONDS)
			.addProfiler(GCProfiler.class)
			.addProfiler(ProcessorTimeProfiler.class);
	}

	private static String withLibrary(String classPath, Path version) throws Exception {
		assertThat(version).exists();
		Path ours = Path.of(LockOperations.class.getProtectionDomain().getCodeSource().getLocation().toURI());
		return Stream.of(classPath.split(File.pathSeparator))
			.map((entry) -> Path.of(entry).equals(ours) ? version.toString() : entry)
			.collect(Collectors.joining(File.pathSeparator));
	}

	private String report() {
		StringBuilder report = new StringBuilder(
				"| benchmark | version | processor time, ns | elapsed time, ns | bytes |\n| --- | --- | --- | --- | --- |\n");
		this.figures.forEach((name, rounds) -> report.append("| ").append(name).append(Figures.median(rounds)));
		return report.toString();
	}

	/**
	 * What one operation costs.
	 *
	 * @param cpu the processor time of the process in nanoseconds
	 * @param elapsed the elapsed time in nanoseconds
	 * @param bytes the allocated memory
	 */
	private record Figures(double cpu, double elapsed, double bytes) {

		static Figures of(RunResult result) {
			return new Figures(result.getSecondaryResults().get(ProcessorTimeProfiler.RESULT).getScore(),
					result.getPrimaryResult().getScore(), result.getSecondaryResults().get(BYTES).getScore());
		}

		static String median(List<Figures> rounds) {
			return String.format(Locale.ROOT, " | %.0f | %.0f | %.0f |%n",
					middle(rounds.stream().map(Figures::cpu).sorted().toList()),
					middle(rounds.stream().map(Figures::elapsed).sorted().toList()),
					middle(rounds.stream().map(Figures::bytes).sorted().toList()));
		}

		private static double middle(List<Double> sorted) {
			return sorted.get(sorted.size() / 2);
		}

	}

}
