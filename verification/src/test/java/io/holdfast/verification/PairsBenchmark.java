package io.holdfast.verification;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockOperations;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Compares the pairs of acquire and release per second of this version with another
 * version, on the same servers in interleaved rounds. It is not part of the build and is
 * run by name, with these system properties:
 * <ul>
 * <li>{@code pairs.before}: the classes or jar of the other version's auto-configuration;
 * without it, this version is compared with itself, which shows the noise</li>
 * <li>{@code pairs.rounds}: the number of rounds of one second, 15 by default</li>
 * <li>{@code pairs.stores}: the stores, all by default</li>
 * </ul>
 * It writes {@code report.md} to {@code target/pairs}.
 */
class PairsBenchmark {

	private static final String ALL = "local,redis,redlock,zookeeper,etcd,jdbc";

	private static final int WARM_UP_ROUNDS = 4;

	private final StringBuilder report = new StringBuilder(
			"| store | workload | after / before | quartiles |\n| --- | --- | --- | --- |\n");

	@Test
	void compare() throws Exception {
		String ours = Path.of(LockOperations.class.getProtectionDomain().getCodeSource().getLocation().toURI())
			.toString();
		String before = System.getProperty("pairs.before", ours);
		assertThat(Path.of(before)).exists();
		for (String store : System.getProperty("pairs.stores", ALL).split(",")) {
			compare(store, ours, Path.of(before).toAbsolutePath().toString());
		}
		Path directory = Files.createDirectories(Path.of("target", "pairs"));
		Files.writeString(directory.resolve("report.md"), this.report.toString());
	}

	private void compare(String store, String ours, String before) throws Exception {
		try (StoreKit kit = StoreKit.of(store);
				PostgresServer database = PostgresServer.started();
				Child former = new Child(kit, database, ours, before);
				Child present = new Child(kit, database, ours, ours)) {
			for (Pairs.Workload workload : Pairs.Workload.values()) {
				List<Double> ratios = new ArrayList<>();
				for (int round = 0; round < WARM_UP_ROUNDS + Integer.getInteger("pairs.rounds", 15); round++) {
					double[] pairs = (round % 2 == 0) ? new double[] { former.run(workload), present.run(workload) }
							: swapped(present.run(workload), former.run(workload));
					if (round >= WARM_UP_ROUNDS) {
						ratios.add(pairs[1] / pairs[0]);
					}
				}
				add(store, workload, ratios.stream().sorted().toList());
			}
		}
	}

	private static double[] swapped(double present, double former) {
		return new double[] { former, present };
	}

	private void add(String store, Pairs.Workload workload, List<Double> sorted) {
		int size = sorted.size();
		this.report.append(String.format(Locale.ROOT, "| %s | %s | %.2f | %.2f – %.2f |%n", store,
				workload.name().toLowerCase(Locale.ROOT), sorted.get(size / 2), sorted.get(size / 4),
				sorted.get(size * 3 / 4)));
	}

	/** One version of the library in its own process. */
	private static final class Child implements AutoCloseable {

		private final Process process;

		private final BufferedReader results;

		private final PrintStream workloads;

		Child(StoreKit kit, PostgresServer database, String ours, String version) throws IOException {
			List<String> command = new ArrayList<>(
					List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-Xmx512m",
							"-XX:+UseSerialGC", "-cp", classPath(ours, version), Pairs.class.getName(),
							"--spring.datasource.url=" + database.jdbcUrl(),
							"--spring.datasource.username=" + PostgresServer.USERNAME, "--spring.datasource.password=",
							"--logging.level.root=warn", "--spring.main.banner-mode=off",
							"--distributed-lock.fencing.enabled=false"));
			command.addAll(kit.argumentsForServers());
			this.process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.DISCARD).start();
			this.results = new BufferedReader(
					new InputStreamReader(this.process.getInputStream(), StandardCharsets.US_ASCII));
			this.workloads = new PrintStream(this.process.getOutputStream(), true, StandardCharsets.US_ASCII);
			result();
		}

		private static String classPath(String ours, String version) {
			String tests = Path.of("target", "test-classes").toAbsolutePath().toString();
			return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
				.filter((entry) -> entry.equals(tests)
						|| (!entry.contains("test-classes") && !entry.endsWith("-tests.jar")))
				.map((entry) -> Path.of(entry).equals(Path.of(ours)) ? version : entry)
				.collect(Collectors.joining(File.pathSeparator));
		}

		double run(Pairs.Workload workload) throws IOException {
			this.workloads.println(workload);
			return result();
		}

		private double result() throws IOException {
			for (String line = this.results.readLine(); line != null; line = this.results.readLine()) {
				if (line.startsWith(Pairs.RESULT)) {
					return Double.parseDouble(line.substring(Pairs.RESULT.length()));
				}
			}
			throw new IllegalStateException("The process has ended");
		}

		@Override
		public void close() {
			this.process.destroyForcibly();
		}

	}

}
