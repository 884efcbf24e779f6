package io.holdfast.verification.benchmark;

import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import com.sun.management.OperatingSystemMXBean;
import org.junit.jupiter.api.Test;

import org.springframework.context.ConfigurableApplicationContext;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Measures what the renewals of many held leases cost. It is not part of the build and is
 * run by name, with these system properties:
 * <ul>
 * <li>{@code renewals.stores}: the stores; {@code redis,etcd,jdbc} by default</li>
 * <li>{@code renewals.leases}: the numbers of leases; {@code 10000,100000} by
 * default</li>
 * </ul>
 * It writes {@code renewals.md} to {@code target/benchmark}.
 */
class RenewalBenchmark {

	private static final Duration LEASE = Duration.ofSeconds(30);

	/** Leases are renewed when a third of them has passed. */
	private static final int TICKS = 3;

	/** How many acquisitions are under way at once. */
	private static final int BATCH = 500;

	private static final OperatingSystemMXBean PROCESS = (OperatingSystemMXBean) ManagementFactory
		.getOperatingSystemMXBean();

	private final StringBuilder report = new StringBuilder("""
			| store | held leases | requests per tick | processor time per tick, in a core | lost |
			| --- | --- | --- | --- | --- |
			""");

	@Test
	void measure() throws Exception {
		for (String store : System.getProperty("renewals.stores", "redis,etcd,jdbc").split(",")) {
			for (String leases : System.getProperty("renewals.leases", "10000,100000").split(",")) {
				measure(store, Integer.parseInt(leases));
			}
		}
	}

	private void measure(String store, int leases) throws Exception {
		try (Servers servers = new Servers(store)) {
			try (ConfigurableApplicationContext context = HoldfastContender.application(
					servers.argumentsOfThisProcess("--distributed-lock.lease-time=" + LEASE.toSeconds() + "s"))) {
				List<LockHandle> held = hold(context.getBean(LockOperations.class), leases);
				Duration tick = LEASE.dividedBy(3);
				Thread.sleep(tick.toMillis());
				long requests = servers.requests();
				long processor = PROCESS.getProcessCpuTime();
				Thread.sleep(tick.multipliedBy(TICKS).toMillis());
				double share = (PROCESS.getProcessCpuTime() - processor) / (double) tick.multipliedBy(TICKS).toNanos();
				long perTick = (servers.requests() - requests) / TICKS;
				long lost = held.stream().filter((handle) -> !handle.isHeld()).count();
				add("| %s | %d | %d | %.2f %% | %d |".formatted(store, leases, perTick, 100 * share, lost));
				assertThat(lost).as("lost leases on %s", store).isZero();
			}
		}
	}

	private static List<LockHandle> hold(LockOperations locks, int leases) {
		List<LockHandle> held = new ArrayList<>();
		while (held.size() < leases) {
			int first = held.size();
			List<CompletableFuture<LockHandle>> batch = IntStream.range(first, Math.min(leases, first + BATCH))
				.mapToObj((i) -> locks.acquireAsync(LockRequest.forLock(LockName.of("renewals", "" + i)).build())
					.toCompletableFuture())
				.toList();
			batch.forEach((future) -> held.add(future.join()));
		}
		return held;
	}

	private void add(String row) throws Exception {
		this.report.append(row).append('\n');
		Path directory = Files.createDirectories(Path.of("target", "benchmark"));
		Files.writeString(directory.resolve("renewals.md"), this.report);
	}

}
