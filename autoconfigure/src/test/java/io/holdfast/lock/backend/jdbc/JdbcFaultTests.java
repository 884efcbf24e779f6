package io.holdfast.lock.backend.jdbc;

import java.io.IOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.ServerProcess;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for faults between the backend and its database, on real servers.
 */
class JdbcFaultTests extends OnEveryDatabase {

	@Slow
	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "H2")
	void frozenDatabaseBlocksNoLongerThanItsResponseTimeout(Database database) throws Exception {
		HikariDataSource pool = opened(database, 1);
		LockBackend store = JdbcContract.backend(track(new SingleConnectionDataSource(pool.getConnection(), true)));
		granted(store, nonWaiting(newLock(), LockMode.EXCLUSIVE));
		ServerProcess server = server(database);
		server.pause();
		try {
			CompletableFuture<AcquireResult> answer = CompletableFuture.supplyAsync(
					() -> store.tryAcquire(nonWaiting(newLock(), LockMode.EXCLUSIVE)).toCompletableFuture().join());
			assertThat(answer.get(6, TimeUnit.SECONDS)).isInstanceOf(AcquireResult.Indeterminate.class);
		}
		finally {
			server.resume();
		}
	}

	@Test
	void attemptBeyondTheLimitOfConnectionsIsRetried() throws Exception {
		JdbcClient admin = JdbcClient
			.create(track(new SingleConnectionDataSource(mariaDb.jdbcUrl(), "root", "", true)));
		admin.sql("CREATE USER limited IDENTIFIED BY 'secret' WITH MAX_USER_CONNECTIONS 1").update();
		admin.sql("GRANT ALL ON holdfast.* TO limited").update();
		DataSource limited = new DriverManagerDataSource(mariaDb.jdbcUrl(), "limited", "secret");
		try (Connection other = limited.getConnection()) {
			assertThat(ask(JdbcContract.patientBackend(limited), nonWaiting(newLock(), LockMode.EXCLUSIVE)))
				.isInstanceOf(AcquireResult.Indeterminate.class);
		}
	}

	/** The local time is the same before and after the clocks go back. */
	@ParameterizedTest
	@ValueSource(longs = { 1_000_000_000L - 1_800, 1_000_000_000L + 1_800 })
	void timeOfMariaDbIgnoresTheSessionTimeZone(long seconds) {
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
		LockBackend store = JdbcContract.patientBackend(pool);
		released(store, granted(store, nonWaiting(newLock(), LockMode.EXCLUSIVE)));
		int before = logged().size();
		Grant grant = granted(store, nonWaiting(newLock(), LockMode.EXCLUSIVE));
		assertThat(logged().stream().skip(before)).singleElement()
			.asString()
			.contains("Makes a claim that does not wait");
		released(store, grant);
		assertThat(logged().stream().skip(before)).hasSize(2);
	}

	private static List<String> logged() throws IOException {
		try (Stream<String> lines = Files.lines(postgres.directory().resolve("server.log"))) {
			return lines.filter((line) -> line.contains("LOG:  execute") || line.contains("LOG:  statement")).toList();
		}
	}

	/** On the server, {@code now()} would return the start time of the transaction. */
	@Slow
	@Test
	void leaseStartsAtTheStatementNotAtItsTransaction() throws Exception {
		HikariDataSource pool = opened(Database.POSTGRESQL, 2);
		JdbcClient jdbc = JdbcClient.create(pool);
		LockBackend store = JdbcContract.backend(new TransactionAwareDataSourceProxy(pool));
		new TransactionTemplate(new DataSourceTransactionManager(pool)).executeWithoutResult((status) -> {
			jdbc.sql("SELECT pg_sleep(1.5)").query((row) -> {
			});
			Grant grant = now(store, nonWaiting(newLock(), LockMode.EXCLUSIVE));
			long started = jdbc.sql("SELECT CAST(EXTRACT(EPOCH FROM now()) * 1000000 AS BIGINT)")
				.query(Long.class)
				.single();
			assertThat(grant.storeToken()).isGreaterThan(started + 1_400_000);
		});
	}

	private static Grant now(LockBackend store, Claim claim) {
		return ((AcquireResult.Acquired) store.tryAcquire(claim).toCompletableFuture().join()).grant();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = "H2")
	void lockIsNeitherRolledBackNorCommittedWithTheCallersTransaction(Database database) {
		HikariDataSource pool = opened(database, 2);
		JdbcClient jdbc = JdbcClient.create(pool);
		jdbc.sql("CREATE TABLE IF NOT EXISTS note (text VARCHAR(10))").update();
		LockBackend store = JdbcContract.patientBackend(new TransactionAwareDataSourceProxy(pool));
		LockName lock = newLock();
		new TransactionTemplate(new DataSourceTransactionManager(pool)).executeWithoutResult((status) -> {
			jdbc.sql("INSERT INTO note VALUES ('a')").update();
			now(store, nonWaiting(lock, LockMode.EXCLUSIVE));
			status.setRollbackOnly();
		});
		assertThat(jdbc.sql("SELECT COUNT(*) FROM note").query(Integer.class).single()).isZero();
		assertThat(store.tryAcquire(nonWaiting(lock, LockMode.EXCLUSIVE)).toCompletableFuture().join())
			.isInstanceOf(AcquireResult.Contended.class);
	}

	@ParameterizedTest
	@EnumSource
	void callersTransactionKeepsNothingOfALock(Database database) {
		HikariDataSource pool = opened(database, 2);
		LockBackend store = JdbcContract.patientBackend(pool);
		new TransactionTemplate(new DataSourceTransactionManager(pool)).executeWithoutResult((status) -> {
			Map<Object, Object> resources = TransactionSynchronizationManager.getResourceMap();
			now(store, nonWaiting(newLock(), LockMode.EXCLUSIVE));
			now(store, nonWaiting(newLock(), LockMode.SHARED));
			assertThat(TransactionSynchronizationManager.getResourceMap()).isEqualTo(resources).hasSize(1);
			assertThat(TransactionSynchronizationManager.getSynchronizations()).isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource
	void tokenGrowsThoughTheRowWasPurged(Database database) throws Exception {
		HikariDataSource pool = opened(database, 2);
		LockBackend store = JdbcContract.patientBackend(pool);
		LockName lock = newLock();
		Grant before = granted(store, nonWaiting(lock, LockMode.EXCLUSIVE));
		released(store, before);
		assertThat(JdbcClient.create(pool)
			.sql("DELETE FROM holdfast_lock WHERE lock_name = ?")
			.param(lock.toString())
			.update()).isOne();
		assertThat(granted(store, nonWaiting(lock, LockMode.EXCLUSIVE)).storeToken())
			.isGreaterThan(before.storeToken());
	}

	/** Simulates a failover to a standby that lacks the last commits. */
	@ParameterizedTest
	@EnumSource
	void tokenGrowsThoughAnOlderRowWasRestored(Database database) throws Exception {
		HikariDataSource pool = opened(database, 2);
		LockBackend store = JdbcContract.patientBackend(pool);
		LockName lock = newLock();
		long first = granted(store, nonWaiting(lock, LockMode.EXCLUSIVE)).storeToken();
		JdbcClient jdbc = JdbcClient.create(pool);
		String restore = "UPDATE holdfast_lock SET owner = '', until_us = 0, token = ? WHERE lock_name = ?";
		jdbc.sql(restore).params(first, lock.toString()).update();
		long lost = granted(store, nonWaiting(lock, LockMode.EXCLUSIVE)).storeToken();
		jdbc.sql(restore).params(first, lock.toString()).update();
		assertThat(granted(store, nonWaiting(lock, LockMode.EXCLUSIVE)).storeToken()).isGreaterThan(lost);
	}

	@ParameterizedTest
	@EnumSource
	void renewalOfALockedRowHasAnUnknownOutcome(Database database) throws Exception {
		HikariDataSource pool = opened(database, 2);
		LockBackend store = JdbcContract.backend(pool);
		LockName lock = newLock();
		Grant grant = granted(store, nonWaiting(lock, LockMode.EXCLUSIVE));
		try (Connection other = pool.getConnection()) {
			other.setAutoCommit(false);
			try (PreparedStatement statement = other
				.prepareStatement("SELECT token FROM holdfast_lock WHERE lock_name = ? FOR UPDATE")) {
				statement.setString(1, lock.toString());
				assertThat(statement.executeQuery().next()).isTrue();
			}
			assertThat(renewed(store, grant)).isInstanceOf(RenewResult.Indeterminate.class);
			other.rollback();
		}
		assertThat(renewed(store, grant)).isInstanceOf(RenewResult.Renewed.class);
		released(store, grant);
	}

	/**
	 * Loses the reply to the statement that acquires the lock, or to the commit of a
	 * reader.
	 */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, EXCLUSIVE, Acquires the lock", "POSTGRESQL, SHARED, COMMIT",
			"MARIADB, EXCLUSIVE, Acquires the lock", "MARIADB, SHARED, '\u0003COMMIT'" })
	void retryAfterALostReplyReturnsTheSameToken(Database database, LockMode mode, String request) throws Exception {
		try (TcpProxy wire = TcpProxy.to(server(database).port())) {
			HikariDataSource pool = opened(database, 1);
			pool.setJdbcUrl(pool.getJdbcUrl().replace(":" + server(database).port(), ":" + wire.port()));
			LockBackend store = JdbcContract.backend(pool);
			LockBackend direct = JdbcContract.backend(opened(database, 1));
			LockName lock = newLock();
			released(direct, granted(direct, nonWaiting(lock, mode)));
			Claim claim = nonWaiting(lock, mode);
			wire.loseNextReplyTo(request);
			assertThat(ask(store, claim)).isInstanceOf(AcquireResult.Indeterminate.class);
			long kept = JdbcClient.create(opened(database, 1))
				.sql("SELECT token FROM holdfast_lock WHERE lock_name = ?")
				.param(lock.toString())
				.query(Long.class)
				.single();
			Grant grant = granted(store, claim);
			assertThat(grant.storeToken()).isEqualTo(kept).isPositive();
			released(store, grant);
		}
	}

	/**
	 * The pool waits up to 30 seconds for a connection, and so does each of its callers.
	 * A thread without the hold does not wait for its release.
	 */
	@Slow
	@Test
	void closeIsBoundedWhenTheDatabaseIsGone() throws Exception {
		try (TcpProxy wire = TcpProxy.to(postgres.port())) {
			HikariDataSource pool = opened(Database.POSTGRESQL, 2);
			pool.setJdbcUrl(pool.getJdbcUrl().replace(":" + postgres.port(), ":" + wire.port()));
			pool.setConnectionTimeout(30_000);
			LockEngine engine = new LockEngine(new LockBackends(List.of(JdbcContract.backend(pool)), "jdbc"),
					EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of());
			LockHandle held = engine.acquire(LockRequest.forLock(newLock()).leaseTime(Duration.ofSeconds(9)).build());
			wire.close();
			pool.getHikariPoolMXBean().softEvictConnections();
			long start = System.nanoTime();
			CompletableFuture.runAsync(held::close).get(20, TimeUnit.SECONDS);
			engine.close();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
		}
	}

}
