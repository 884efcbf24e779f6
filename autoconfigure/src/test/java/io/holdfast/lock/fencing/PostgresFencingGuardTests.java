package io.holdfast.lock.fencing;

import java.sql.Connection;

import javax.sql.DataSource;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class PostgresFencingGuardTests extends JdbcFencingGuardContract {

	@AutoClose
	private static final PostgresServer server = PostgresServer.started();

	@Override
	DataSource dataSource() {
		return new DriverManagerDataSource(server.jdbcUrl(), PostgresServer.USERNAME, "");
	}

	@Test
	void databaseIsRecognized() {
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class).isThrownBy(this::advanceWithoutTable)
			.withMessageContaining("the fence table cannot be used")
			.havingCause()
			.withMessageContaining("ON CONFLICT");
	}

	@Test
	void lockTimeoutNamesTheLockAndTheRemedy() throws Exception {
		DataSource impatient = new DriverManagerDataSource(server.jdbcUrl() + "&options=-c%20lock_timeout=100ms");
		TestFence.clear(impatient);
		JdbcFencingGuard guard = TestFence.of(impatient).guard();
		try (Connection first = impatient.getConnection(); Connection second = impatient.getConnection()) {
			first.setAutoCommit(false);
			second.setAutoCommit(false);
			guard.on(first).advance(TestHold.of("42", 10, "a"));
			assertThatExceptionOfType(CannotAcquireLockException.class)
				.isThrownBy(() -> guard.on(second).advance(TestHold.of("42", 20, "b")))
				.withMessageContainingAll("'stock:42' (backend redis, token 20)", "stopped waiting", "Repeat the call");
		}
	}

	@Override
	FenceSql sql() {
		return FenceSql.POSTGRESQL;
	}

}
