package io.holdfast.lock.backend.jdbc;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.time.Duration;
import java.util.UUID;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.StoreStatus.State;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

/**
 * Tests for what operators and health checks see of a database.
 */
class JdbcStatusTests {

	private static final String TABLE = "status_lock";

	@Slow
	@Test
	void databaseThatRejectsWritesIsNotAvailable() throws Exception {
		try (PostgresServer server = PostgresServer.started()) {
			DriverManagerDataSource dataSource = new DriverManagerDataSource(server.jdbcUrl(), PostgresServer.USERNAME,
					"");
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			jdbc.execute(JdbcLockBackend.schema(TABLE));
			try (JdbcLockBackend backend = backend(dataSource)) {
				assertThat(answer(backend.status()).state()).isEqualTo(State.AVAILABLE);
				assertThat(answer(backend.status()).details()).containsEntry("database", "POSTGRESQL");
				jdbc.execute("ALTER ROLE " + PostgresServer.USERNAME + " SET default_transaction_read_only = on");
				assertThat(backend.status().toCompletableFuture()).failsWithin(BOUND)
					.withThrowableThat()
					.withMessageContaining("read-only transaction")
					.withMessageContaining("Connect to the primary server");
			}
		}
	}

	@Test
	void missingTablesAreReportedWithTheScriptThatCreatesThem() {
		try (JdbcLockBackend backend = backend(
				new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1"))) {
			assertFailures(backend, LockConfigurationException.class, "'status_lock_reader'", "schema.sql");
		}
	}

	/** The engine withdraws no claim of which the database has nothing. */
	@Test
	void rejectedClaimLeavesNothingInMemory() {
		try (JdbcLockBackend backend = backend(
				new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1"))) {
			Claim reader = new Claim(LockName.of("stock", "42"), OwnerId.random(), LockMode.SHARED,
					Duration.ofSeconds(1), true, Duration.ofSeconds(1), false);
			assertThat(backend.tryAcquire(reader).toCompletableFuture()).isCompletedExceptionally();
			assertThat(backend.waiting()).isZero();
		}
	}

	@Test
	void exhaustedPoolIsReportedWithItsSize() throws Exception {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
			pool.setMaximumPoolSize(1);
			pool.setConnectionTimeout(250);
			try (JdbcLockBackend backend = backend(pool); Connection taken = pool.getConnection()) {
				assertFailures(backend, LockBackendException.class, "The connection pool is exhausted",
						"'spring.datasource.hikari.maximum-pool-size'");
			}
		}
	}

	@Slow
	@Test
	void silentDatabaseIsNotReportedAsAnExhaustedPool() throws Exception {
		try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
				HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:postgresql://127.0.0.1:%s/silent?loginTimeout=2".formatted(silent.getLocalPort()));
			pool.setConnectionTimeout(250);
			pool.setInitializationFailTimeout(-1);
			try (JdbcLockBackend backend = backend(pool)) {
				assertFailures(backend, LockBackendException.class, "No connection to the database could be opened",
						"reachable");
			}
		}
	}

	@Slow
	@Test
	void rejectedLoginIsReportedWithItsProperty() {
		String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
		new JdbcTemplate(new DriverManagerDataSource(url, "sa", "right")).execute("SELECT 1");
		try (JdbcLockBackend backend = backend(new DriverManagerDataSource(url, "sa", "wrong"))) {
			assertFailures(backend, LockBackendException.class, "rejected the login", "'spring.datasource.username'");
		}
	}

	private static JdbcLockBackend backend(DataSource dataSource) {
		return new JdbcLockBackend(dataSource, new JdbcLockOptions("test", TABLE, Duration.ofSeconds(1), false));
	}

	private static void assertFailures(LockBackend backend, Class<? extends Exception> type, String... parts) {
		LockName lock = LockName.of("stock", "42");
		LockState.Holder holder = new LockState.Holder("owner", LockMode.EXCLUSIVE, new FencingToken(1024),
				Duration.ofSeconds(1));
		Stream.of(backend.find(lock), backend.status(), backend.revoke(lock, holder))
			.forEach((failed) -> assertThat(failed.toCompletableFuture()).failsWithin(BOUND)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(type)
				.extracting(Throwable::getMessage, STRING)
				.contains(parts));
	}

}
