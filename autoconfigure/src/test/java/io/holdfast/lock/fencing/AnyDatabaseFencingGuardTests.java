package io.holdfast.lock.fencing;

import javax.sql.DataSource;

import org.junit.jupiter.api.AutoClose;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.test.server.MariaDbServer;

/**
 * Tests the statements for any database on MariaDB, in place of MySQL, which has the same
 * SQL except for {@code RETURNING}.
 */
class AnyDatabaseFencingGuardTests extends JdbcFencingGuardContract {

	@AutoClose
	private static final MariaDbServer server = MariaDbServer.started();

	@Override
	DataSource dataSource() {
		return new DriverManagerDataSource(server.jdbcUrl(), MariaDbServer.USERNAME, MariaDbServer.PASSWORD);
	}

	@Override
	FenceSql sql() {
		return FenceSql.ANY;
	}

}
