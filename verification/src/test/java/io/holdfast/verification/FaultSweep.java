package io.holdfast.verification;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import org.junit.jupiter.api.Test;

import org.springframework.util.StringUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Runs every fault on every store for a configurable time. It is not part of the build
 * and is run by name, with these system properties:
 * <ul>
 * <li>{@code sweep.seconds}: the time per store with fencing on, 30 by default</li>
 * <li>{@code sweep.stores}: the stores, all by default</li>
 * <li>{@code sweep.seed}: the seed from which faults are drawn, 1 by default</li>
 * <li>{@code sweep.arguments}: further arguments of the processes with fencing on,
 * separated by commas, such as {@code --distributed-lock.sticky=500ms}</li>
 * </ul>
 * It writes {@code report.md}, and a history and a timeline of each run, to
 * {@code target/sweep}.
 */
class FaultSweep {

	private static final String ALL = "redis,redis-sentinel,redlock,zookeeper,etcd,jdbc,jdbc-advisory,local";

	private static final int PAUSES_WITHOUT_A_FENCE = 3;

	private final Path directory = Path.of("target", "sweep");

	private final List<RunResult> results = new ArrayList<>();

	@Test
	void sweep() throws Exception {
		int seconds = Integer.getInteger("sweep.seconds", 30);
		long seed = Long.getLong("sweep.seed", 1L);
		String[] arguments = StringUtils.commaDelimitedListToStringArray(System.getProperty("sweep.arguments"));
		for (String store : System.getProperty("sweep.stores", ALL).split(",")) {
			try (Run fenced = Run.ofAllFaults(store, true, seed, arguments)) {
				keep(fenced.injectAll(seconds), fenced, seed);
			}
			if (!store.equals("local")) {
				try (Run unfenced = new Run(store, false, seed)) {
					keep(unfenced.inject(Fault.PAUSED_BEFORE_COMMIT, PAUSES_WITHOUT_A_FENCE), unfenced, seed);
				}
			}
		}
		assertThat(this.results).allSatisfy((result) -> {
			assertThat(result.bothPass()).as("moments at which two holders' checks pass on %s", result.store())
				.isZero();
			assertThat(result.missing()).as("acknowledged orders without a record").isZero();
			assertThat(result.closed()).as("locks that stay closed on %s", result.store()).isZero();
			if (result.fenced()) {
				assertThat(result.lost()).as("lost updates on %s", result.store()).isZero();
				assertThat(result.outOfOrder()).as("writes out of order on %s", result.store()).isZero();
			}
			else {
				assertThat(result.lost()).as("losses found on %s without a fence", result.store()).isPositive();
			}
		});
	}

	private void keep(RunResult result, Run run, long seed) throws IOException {
		this.results.add(result);
		String name = result.store() + "-" + (result.fenced() ? "fenced" : "unfenced");
		Files.createDirectories(this.directory);
		Files.writeString(this.directory.resolve(name + ".html"), Timeline.of(result, run.history(), run.holders()));
		Files.writeString(this.directory.resolve(name + ".csv"), csv(run.history()));
		Files.writeString(this.directory.resolve("report.md"), report(seed));
	}

	private static String csv(History history) {
		String attempts = history.attempts()
			.stream()
			.map((attempt) -> "order,%d,%d,%d,%d,%s".formatted(attempt.process(), attempt.begin(), attempt.end(),
					attempt.product(), attempt.answer()))
			.collect(Collectors.joining("\n"));
		String faults = history.incidents()
			.stream()
			.map((incident) -> "fault,%d,%d,%d,,%s".formatted(incident.process(), incident.begin(), incident.end(),
					incident.kind()))
			.collect(Collectors.joining("\n"));
		return "what,process,begin,end,product,outcome\n" + attempts + "\n" + faults + "\n";
	}

	private String report(long seed) {
		StringBuilder report = new StringBuilder("Seed " + seed + "\n\n" + RunResult.header() + "\n");
		this.results.forEach((result) -> report.append(result.row()).append('\n'));
		report.append("\nFaults by kind:\n\n");
		this.results.forEach((result) -> report.append(
				"* %s, fencing %s: %s%n".formatted(result.store(), result.fenced() ? "on" : "off", result.faults())));
		return report.toString();
	}

}
