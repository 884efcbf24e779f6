package io.holdfast.lock.backend.jdbc;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.test.server.MariaDbServer;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.ServerProcess;

import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What can go wrong between the store and its database, on real servers.
 */
class JdbcFaultTests {

	private static final int RACERS = 50;

	/** Where locks are kept. */
	enum Database {

		H2, POSTGRESQL, MARIADB

	}

	private static PostgresServer postgres;

	private static MariaDbServer mariaDb;

	private static final String H2_URL = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	private final List<AutoCloseable> opened = new ArrayList<>();

	@BeforeAll
	static void startServers() {
		postgres = PostgresServer.started();
		mariaDb = MariaDbServer.started();
		for (Database database : Database.values()) {
			HikariDataSource pool = pool(database, 1);
			JdbcContract.createTables(pool);
			pool.close();
		}
	}

	@AfterAll
	static void stopServers() {
		postgres.close();
		mariaDb.close();
	}

	@AfterEach
	void closeAll() throws Exception {
		for (AutoCloseable closeable : this.opened) {
			closeable.close();
		}
	}

	private static HikariDataSource pool(Database database, int size) {
		HikariDataSource pool = new HikariDataSource();
		switch (database) {
			case H2 -> pool.setJdbcUrl(H2_URL);
			case POSTGRESQL -> pool.setJdbcUrl(postgres.jdbcUrl());
			case MARIADB -> {
				pool.setJdbcUrl(mariaDb.jdbcUrl());
				pool.setUsername(MariaDbServer.USERNAME);
				pool.setPassword(MariaDbServer.PASSWORD);
			}
		}
		pool.setMaximumPoolSize(size);
		return pool;
	}

	private HikariDataSource opened(Database database, int size) {
		HikariDataSource pool = pool(database, size);
		this.opened.add(pool);
		return pool;
	}

	private static LockName newLock() {
		return LockName.of("fault", UUID.randomUUID().toString());
	}

	private static Claim impatient(LockName lock, LockMode mode) {
		return new Claim(lock, OwnerId.random(), mode, Duration.ofSeconds(30), true, Duration.ZERO, false);
	}

	@ParameterizedTest
	@EnumSource
	void firstReadersOfALockAreAllAdmittedAtOnce(Database database) throws Exception {
		LockBackend store = JdbcContract.backend(opened(database, 20));
		LockName lock = newLock();
		assertThat(race(store, lock, LockMode.SHARED)).hasOnlyElementsOfType(AcquireResult.Acquired.class);
	}

	@ParameterizedTest
	@EnumSource
	void oneOfManyFirstWritersWinsAndNoneMeetsAnError(Database database) throws Exception {
		LockBackend store = JdbcContract.backend(opened(database, 20));
		List<AcquireResult> results = race(store, newLock(), LockMode.EXCLUSIVE);
		assertThat(results).filteredOn(AcquireResult.Acquired.class::isInstance).hasSize(1);
		assertThat(results).filteredOn(AcquireResult.Contended.class::isInstance).hasSize(RACERS - 1);
	}

	private static List<AcquireResult> race(LockBackend store, LockName lock, LockMode mode) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(RACERS);
		CyclicBarrier start = new CyclicBarrier(RACERS);
		try {
			List<Future<AcquireResult>> racers = IntStream.range(0, RACERS).mapToObj((i) -> threads.submit(() -> {
				start.await();
				return store.tryAcquire(impatient(lock, mode)).toCompletableFuture().join();
			})).toList();
			List<AcquireResult> results = new ArrayList<>();
			for (Future<AcquireResult> racer : racers) {
				results.add(racer.get(60, TimeUnit.SECONDS));
			}
			return results;
		}
		finally {
			threads.shutdownNow();
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL", "MARIADB" })
	void frozenDatabaseHoldsNobodyLongerThanItsResponseTimeout(Database database) throws Exception {
		HikariDataSource pool = opened(database, 1);
		LockBackend store = JdbcContract.backend(track(new SingleConnectionDataSource(pool.getConnection(), true)));
		granted(store, impatient(newLock(), LockMode.EXCLUSIVE));
		ServerProcess server = (database == Database.POSTGRESQL) ? postgres : mariaDb;
		server.pause();
		try {
			CompletableFuture<AcquireResult> answer = CompletableFuture.supplyAsync(
					() -> store.tryAcquire(impatient(newLock(), LockMode.EXCLUSIVE)).toCompletableFuture().join());
			assertThat(answer.get(6, TimeUnit.SECONDS)).isInstanceOf(AcquireResult.Indeterminate.class);
		}
		finally {
			server.resume();
		}
	}

	private <T extends AutoCloseable> T track(T closeable) {
		this.opened.add(0, closeable);
		return closeable;
	}

	/** Before and after the clocks went back, the local time was the same. */
	@ParameterizedTest
	@ValueSource(longs = { 1_000_000_000L - 1_800, 1_000_000_000L + 1_800 })
	void mariaDbsTimeIsNotThatOfTheSessionsTimeZone(long seconds) {
		SingleConnectionDataSource admin = track(new SingleConnectionDataSource(mariaDb.jdbcUrl(), "root", "", true));
		JdbcClient jdbc = JdbcClient.create(admin);
		List.of("REPLACE INTO mysql.time_zone VALUES (77, 'N')",
				"REPLACE INTO mysql.time_zone_name VALUES ('Autumn', 77)",
				"REPLACE INTO mysql.time_zone_transition_type VALUES (77, 0, 7200, 1, 'S'), (77, 1, 3600, 0, 'W')",
				"REPLACE INTO mysql.time_zone_transition VALUES (77, -1000000000, 0), (77, 1000000000, 1)",
				"SET time_zone = 'Autumn'", "SET timestamp = " + seconds)
			.forEach((statement) -> jdbc.sql(statement).update());
		assertThat(jdbc.sql("SELECT " + JdbcDialect.MARIADB.now()).query(Long.class).single())
			.isEqualTo(seconds * 1_000_000);
	}

	@Test
	void freeLockCostsPostgresOneStatementAndItsReleaseAnother() throws Exception {
		HikariDataSource pool = opened(Database.POSTGRESQL, 1);
		pool.addDataSourceProperty("options", "-c log_statement=all");
		LockBackend store = JdbcContract.backend(pool);
		released(store, granted(store, impatient(newLock(), LockMode.EXCLUSIVE)));
		int before = logged().size();
		Grant grant = granted(store, impatient(newLock(), LockMode.EXCLUSIVE));
		assertThat(logged().stream().skip(before)).singleElement().asString().contains("takes the lock");
		released(store, grant);
		assertThat(logged().stream().skip(before)).hasSize(2);
	}

	private static List<String> logged() throws IOException {
		try (Stream<String> lines = Files.lines(postgres.directory().resolve("server.log"))) {
			return lines.filter((line) -> line.contains("LOG:  execute") || line.contains("LOG:  statement")).toList();
		}
	}

}
