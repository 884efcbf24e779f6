package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.MariaDbServer;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests the statements for MySQL with its driver, on MariaDB.
 */
@Slow
class MySqlFencingGuardTests extends JdbcFencingGuardContract {

	@AutoClose
	private static final MariaDbServer server = MariaDbServer.started();

	@Override
	DataSource dataSource() {
		return new DriverManagerDataSource(server.mySqlUrl(), MariaDbServer.USERNAME, MariaDbServer.PASSWORD);
	}

	@Override
	FenceSql sql() {
		return FenceSql.MYSQL;
	}

	/** A setting of the drivers of MySQL and MariaDB. */
	@Test
	void sameHolderPassesAgainIfTheDriverCountsChangedRowsOnly() throws SQLException {
		guard();
		try (Connection transaction = DriverManager.getConnection(server.mySqlUrl() + "?useAffectedRows=true",
				MariaDbServer.USERNAME, MariaDbServer.PASSWORD)) {
			transaction.setAutoCommit(false);
			FencingGuard guard = onTable().on(transaction);
			guard.advance(TestHold.of("42", 10, "a"));
			guard.advance(TestHold.of("42", 10, "a"));
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> guard.advance(TestHold.of("42", 10, "b")));
			transaction.commit();
		}
	}

}
