package io.holdfast.lock.fencing;

import javax.sql.DataSource;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

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

	@Override
	FenceSql sql() {
		return FenceSql.POSTGRESQL;
	}

}
