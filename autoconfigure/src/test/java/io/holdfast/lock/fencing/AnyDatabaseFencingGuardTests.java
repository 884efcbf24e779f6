package io.holdfast.lock.fencing;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.test.server.MariaDbServer;

/**
 * Tests the statements for any database on MariaDB, in place of MySQL, which has the same
 * SQL except for {@code RETURNING}.
 */
class AnyDatabaseFencingGuardTests extends JdbcFencingGuardContract {

	private static MariaDbServer server;

	@BeforeAll
	static void startServer() {
		server = MariaDbServer.started();
	}

	@AfterAll
	static void stopServer() {
		server.close();
	}

	@Override
	DataSource dataSource() {
		return new DriverManagerDataSource(server.jdbcUrl(), MariaDbServer.USERNAME, MariaDbServer.PASSWORD);
	}

	@Override
	FenceSql sql() {
		return FenceSql.ANY;
	}

}
