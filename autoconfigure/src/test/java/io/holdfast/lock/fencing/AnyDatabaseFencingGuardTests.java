package io.holdfast.lock.fencing;

import java.sql.SQLSyntaxErrorException;

import javax.sql.DataSource;

import org.junit.jupiter.api.AutoClose;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.test.server.MariaDbServer;

/**
 * Tests the statements for any other database, on MariaDB at the usual isolation level.
 * Like SQL Server, the database does not know the clause FOR UPDATE.
 */
class AnyDatabaseFencingGuardTests extends JdbcFencingGuardContract {

	@AutoClose
	private static final MariaDbServer server = MariaDbServer.started();

	@Override
	DataSource dataSource() {
		return new ObservedStatements(
				new DriverManagerDataSource(server.jdbcUrl() + "?sessionVariables=tx_isolation='READ-COMMITTED'",
						MariaDbServer.USERNAME, MariaDbServer.PASSWORD),
				(sql) -> {
					if (sql.contains("FOR UPDATE")) {
						throw new SQLSyntaxErrorException("Incorrect syntax near the keyword 'FOR'", "42000");
					}
				});
	}

	@Override
	FenceSql sql() {
		return FenceSql.ANY;
	}

}
