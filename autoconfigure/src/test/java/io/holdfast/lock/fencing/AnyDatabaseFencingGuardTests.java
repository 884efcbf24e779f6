package io.holdfast.lock.fencing;

import javax.sql.DataSource;

import org.junit.jupiter.api.AutoClose;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.test.server.MariaDbServer;

/**
 * Tests the statements for any other database, on MariaDB at the usual isolation level.
 */
class AnyDatabaseFencingGuardTests extends JdbcFencingGuardContract {

	@AutoClose
	private static final MariaDbServer server = MariaDbServer.started();

	@Override
	DataSource dataSource() {
		return new DriverManagerDataSource(server.jdbcUrl() + "?sessionVariables=tx_isolation='READ-COMMITTED'",
				MariaDbServer.USERNAME, MariaDbServer.PASSWORD);
	}

	@Override
	FenceSql sql() {
		return FenceSql.ANY;
	}

}
