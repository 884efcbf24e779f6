package io.holdfast.lock.fencing;

import javax.sql.DataSource;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.test.server.MariaDbServer;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class MariaDbFencingGuardTests extends JdbcFencingGuardContract {

	@AutoClose
	private static final MariaDbServer server = MariaDbServer.started();

	@Override
	DataSource dataSource() {
		return new DriverManagerDataSource(server.jdbcUrl(), MariaDbServer.USERNAME, MariaDbServer.PASSWORD);
	}

	@Test
	void databaseIsRecognized() {
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class).isThrownBy(this::advanceWithoutTable)
			.withMessageContaining("the fence table cannot be used")
			.havingCause()
			.withMessageContaining("ON DUPLICATE KEY");
	}

	@Override
	FenceSql sql() {
		return FenceSql.MARIADB;
	}

}
