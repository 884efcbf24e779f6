package io.holdfast.lock.backend.jdbc;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import javax.management.ObjectName;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the objects that remain on the heap after locks were used once.
 */
class JdbcFootprintTests extends OnEveryDatabase {

	private static final int KEYS = 2_000;

	/** A pending release keeps objects, so the test waits for the last release. */
	@Slow
	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	void releasedLocksLeaveNoObjects(Database database) throws Exception {
		HikariDataSource pool = opened(database, 4);
		JdbcLockBackend store = track(new JdbcLockBackend(pool,
				new JdbcLockOptions("test", JdbcContract.TABLE, Duration.ofSeconds(1), true)));
		LockEngine engine = new LockEngine(new LockBackends(List.of(store), "jdbc"), EngineSettings.DEFAULTS,
				TransactionBoundary.NONE, List.of());
		try {
			useOnce(engine, 100);
			awaitReleases(pool);
			long before = objects();
			useOnce(engine, KEYS);
			awaitReleases(pool);
			Awaitility.await()
				.atMost(Duration.ofSeconds(60))
				.untilAsserted(
						() -> assertThat(objects() - before).as("objects of %d keys", KEYS).isLessThan(KEYS / 20));
		}
		finally {
			engine.close();
		}
	}

	private static void useOnce(LockEngine engine, int keys) {
		for (int i = 0; i < keys; i++) {
			try (LockHandle handle = engine.acquire(LockRequest.of("footprint", UUID.randomUUID()))) {
				handle.assertHeld();
			}
		}
	}

	private static void awaitReleases(HikariDataSource pool) {
		JdbcClient jdbc = JdbcClient.create(pool);
		Awaitility.await()
			.atMost(Duration.ofSeconds(60))
			.until(() -> jdbc.sql("SELECT COUNT(*) FROM holdfast_lock WHERE owner <> ''")
				.query(Long.class)
				.single() == 0);
	}

	/** Returns the number of reachable objects of Holdfast and of futures. */
	private static long objects() throws Exception {
		String histogram = (String) ManagementFactory.getPlatformMBeanServer()
			.invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"), "gcClassHistogram",
					new Object[] { new String[0] }, new String[] { String[].class.getName() });
		return histogram.lines()
			.map((line) -> line.trim().split("\\s+"))
			.filter((columns) -> columns.length >= 4)
			.filter((columns) -> columns[3].startsWith("io.holdfast.lock.")
					|| columns[3].startsWith("java.util.concurrent.CompletableFuture"))
			.mapToLong((columns) -> Long.parseLong(columns[1]))
			.sum();
	}

}
