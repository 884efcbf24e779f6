package io.holdfast.lock.backend.jdbc;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.spi.StoreStatus.State;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for what a health check sees of a database.
 */
class JdbcStatusTests {

	private static final String TABLE = "status_lock";

	@Test
	void databaseThatRejectsWritesIsNotAvailable() throws Exception {
		try (PostgresServer server = PostgresServer.started()) {
			DriverManagerDataSource dataSource = new DriverManagerDataSource(server.jdbcUrl(), PostgresServer.USERNAME,
					"");
			JdbcTemplate jdbc = new JdbcTemplate(dataSource);
			jdbc.execute(JdbcLockBackend.schema(TABLE));
			try (JdbcLockBackend backend = new JdbcLockBackend(dataSource,
					new JdbcLockOptions("test", TABLE, Duration.ofSeconds(1), false))) {
				assertThat(answer(backend.status()).state()).isEqualTo(State.AVAILABLE);
				assertThat(answer(backend.status()).details()).containsEntry("database", "POSTGRESQL");
				jdbc.execute("ALTER ROLE " + PostgresServer.USERNAME + " SET default_transaction_read_only = on");
				assertThat(backend.status().toCompletableFuture()).failsWithin(BOUND)
					.withThrowableThat()
					.withMessageContaining("read-only transaction");
			}
		}
	}

}
