package io.holdfast.lock.backend.redis;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.RedisServer;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for hundreds of releases at the moment when a renewal is due, in the order in
 * which Redis receives them.
 */
class RedisRenewalRaceTests {

	private static final int THREADS = 100;

	private static final int ROUNDS = Boolean.getBoolean("thorough") ? 10 : 4;

	/**
	 * The engine waits for a renewal until the next one is due. With this lease, that is
	 * longer than Redis may take.
	 */
	private static final Duration LEASE = Duration.ofSeconds(3);

	/**
	 * Matches the arguments of a release: the grant, the prefix of the channel names,
	 * milliseconds, and the instance.
	 */
	private static final Pattern RELEASE = Pattern
		.compile("\"([0-9a-zA-Z-]+:\\d+)\" \"[^\"]*[a-z][^\"]*\" \"\\d+\" \"[0-9a-f-]{36}\"$");

	/** Matches the arguments of a renewal: the grant, milliseconds, and the mode. */
	private static final Pattern RENEWAL = Pattern.compile("\"([0-9a-zA-Z-]+:\\d+)\" \"\\d+\" \"EXCLUSIVE\"$");

	@Slow
	@Test
	void nothingIsRenewedAfterItsRelease() throws Exception {
		EngineSettings settings = settings().leaseTime(LEASE).awaitRelease(true).shutdownTimeout(Duration.ZERO).build();
		try (RedisServer server = RedisServer.started();
				RedisLockBackend backend = RedisLibrary.REDISSON.backend(server.address());
				LockEngine engine = new LockEngine(new LockBackends(List.of(backend), "redis"), settings,
						TransactionBoundary.NONE, List.of())) {
			List<String> commands = server.watched(() -> {
				holdAndRelease(engine);
				return null;
			});
			Set<String> released = new HashSet<>();
			int renewals = 0;
			for (String command : commands) {
				Matcher release = RELEASE.matcher(command);
				Matcher renewal = RENEWAL.matcher(command);
				if (command.contains("\"EVAL") && release.find()) {
					released.add(release.group(1));
				}
				else if (command.contains("\"EVAL") && renewal.find()) {
					renewals++;
					assertThat(released).as(command).doesNotContain(renewal.group(1));
				}
			}
			assertThat(released).hasSizeGreaterThan(THREADS * ROUNDS / 2);
			assertThat(renewals).as("holds that met a renewal").isGreaterThan(THREADS * ROUNDS / 20);
		}
	}

	private static void holdAndRelease(LockEngine engine) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			List<Future<?>> runs = IntStream.range(0, THREADS).<Future<?>>mapToObj((i) -> threads.submit(() -> {
				Random random = new Random(i);
				for (int n = 0; n < ROUNDS; n++) {
					try (LockHandle handle = engine.acquire(LockRequest.forLock(LockName.of("race", "" + i)).build())) {
						LockSupport.parkNanos(LEASE.toNanos() / 3 - TimeUnit.MILLISECONDS.toNanos(random.nextInt(31)));
					}
				}
			})).toList();
			for (Future<?> run : runs) {
				run.get(60, TimeUnit.SECONDS);
			}
		}
		finally {
			threads.shutdownNow();
		}
	}

}
