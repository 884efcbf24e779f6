package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.server.MariaDbServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for settings of MariaDB that change what statements mean.
 */
@ExtendWith(OutputCaptureExtension.class)
class MariaDbSettingsTests {

	@AutoClose
	private static final MariaDbServer SERVER = MariaDbServer.started();

	/** In the first two, all assignments of a statement see the old row. */
	@ParameterizedTest
	@ValueSource(strings = { "SIMULTANEOUS_ASSIGNMENT", "ORACLE", "ANSI", "TRADITIONAL", "MSSQL", "" })
	void locksExcludeEachOtherInEverySqlMode(String mode) throws Exception {
		try (HikariDataSource pool = pool("SET sql_mode = '" + mode + "'")) {
			LocksUnderSettings.assertExcludeEachOther(pool);
		}
	}

	@Test
	void emptyTextThatIsNullIsRejected() {
		try (HikariDataSource usual = pool("SET sql_mode = ''");
				HikariDataSource pool = pool("SET sql_mode = 'STRICT_TRANS_TABLES,EMPTY_STRING_IS_NULL'")) {
			JdbcContract.createTables(usual);
			JdbcLockBackend store = JdbcContract.backend(pool);
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(store::verify)
				.withMessageContaining("treats an empty text as NULL");
			store.close();
		}
	}

	@Test
	void commitsThatAreWrittenLaterAreWarnedAbout(CapturedOutput output) throws Exception {
		try (Connection root = DriverManager.getConnection(SERVER.jdbcUrl(), "root", "");
				Statement statement = root.createStatement()) {
			statement.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 0");
		}
		try (HikariDataSource pool = pool("SET sql_mode = ''")) {
			JdbcContract.createTables(pool);
			JdbcLockBackend store = JdbcContract.backend(pool);
			store.verify();
			assertThat(output).contains("innodb_flush_log_at_trx_commit is 0. Set it to 1.");
			store.close();
		}
	}

	private static HikariDataSource pool(String initialization) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(SERVER.jdbcUrl());
		pool.setUsername(MariaDbServer.USERNAME);
		pool.setPassword(MariaDbServer.PASSWORD);
		pool.setConnectionInitSql(initialization);
		pool.setMaximumPoolSize(4);
		return pool;
	}

}
