package io.holdfast.lock.backend.jdbc;

import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.server.MariaDbServer;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for settings of MariaDB that change what statements mean or how tables are kept.
 */
class MariaDbSettingsTests {

	private static final MariaDbServer SERVER = MariaDbServer.started();

	@AfterAll
	static void stop() {
		SERVER.close();
	}

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
	void tablesWithoutTransactionsAreRejected() {
		try (HikariDataSource pool = pool("SET default_storage_engine = 'Aria'")) {
			JdbcTemplate jdbc = new JdbcTemplate(pool);
			for (String statement : JdbcLockBackend.schema("without_transactions")
				.replaceAll("--[^\n]*\n", "\n")
				.split(";")) {
				if (!statement.isBlank()) {
					jdbc.execute(statement);
				}
			}
			JdbcLockBackend store = new JdbcLockBackend(pool,
					new JdbcLockOptions("test", "without_transactions", JdbcContract.RESPONSE_TIMEOUT, true));
			for (String table : List.of("without_transactions", "without_transactions_reader")) {
				assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(store::verify)
					.withMessageContainingAll("has the storage engine 'Aria', which has no transactions",
							"ENGINE = InnoDB");
				jdbc.execute("ALTER TABLE %s ENGINE = InnoDB".formatted(table));
			}
			store.verify();
			store.close();
		}
	}

	@Test
	void tablesWithoutTheirUniqueKeyAreRejected() {
		try (HikariDataSource pool = pool("SET sql_mode = ''")) {
			JdbcContract.createTables(pool);
			JdbcTemplate jdbc = new JdbcTemplate(pool);
			jdbc.execute("CREATE TABLE without_key AS SELECT * FROM holdfast_lock");
			jdbc.execute("CREATE TABLE without_key_reader AS SELECT * FROM holdfast_lock_reader");
			JdbcLockBackend store = new JdbcLockBackend(pool,
					new JdbcLockOptions("test", "without_key", JdbcContract.RESPONSE_TIMEOUT, true));
			for (String addKey : List.of("ALTER TABLE without_key ADD PRIMARY KEY (lock_id)",
					"ALTER TABLE without_key_reader ADD UNIQUE (owner, lock_id)")) {
				assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(store::verify)
					.withMessageContaining("has no unique key (lock_id");
				jdbc.execute(addKey);
			}
			store.verify();
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
