package io.holdfast.lock.backend.jdbc;

import java.util.List;
import java.util.UUID;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.holdfast.lock.LockConfigurationException;

import static io.holdfast.lock.backend.jdbc.JdbcContract.createTables;
import static io.holdfast.lock.backend.jdbc.JdbcContract.patientBackend;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for tables that differ from the script, so that two owners could pass at once.
 */
class JdbcTableTests extends OnEveryDatabase {

	/** Creates tables in PostgreSQL, without the key of the first one. */
	private static JdbcTemplate createTablesWithoutKey(DataSource dataSource, String table) {
		createTables(dataSource, table);
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		jdbc.execute("ALTER TABLE %1$s DROP CONSTRAINT %1$s_pkey".formatted(table));
		return jdbc;
	}

	private static void assertRejected(JdbcLockBackend store, String... message) {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(store::verify)
			.withMessageContainingAll(message);
	}

	@ParameterizedTest
	@EnumSource(Database.class)
	void tablesWithoutTheirUniqueKeyAreRejected(Database database) {
		HikariDataSource pool = opened(database, 4);
		JdbcTemplate jdbc = new JdbcTemplate(pool);
		jdbc.execute("DROP TABLE IF EXISTS without_key, without_key_reader");
		jdbc.execute("CREATE TABLE without_key AS SELECT * FROM holdfast_lock");
		jdbc.execute("CREATE TABLE without_key_reader AS SELECT * FROM holdfast_lock_reader");
		JdbcLockBackend store = track(patientBackend(pool, "without_key"));
		// MariaDB finds rows by the index of this name
		String key = (database == Database.MARIADB || database == Database.MYSQL) ? "PRIMARY KEY" : "UNIQUE";
		for (String addKey : List.of("ALTER TABLE without_key ADD %s (lock_id)".formatted(key),
				"ALTER TABLE without_key_reader ADD %s (owner, lock_id)".formatted(key))) {
			assertRejected(store, "key (lock_id", "schema.sql");
			jdbc.execute(addKey);
		}
		store.verify();
	}

	@ParameterizedTest
	@EnumSource(mode = Mode.EXCLUDE, names = { "MARIADB", "MYSQL" })
	void tablesOfAnotherSchemaAreAccepted(Database database) {
		HikariDataSource pool = opened(database, 4);
		new JdbcTemplate(pool).execute("CREATE SCHEMA elsewhere");
		createTables(pool, "elsewhere.kept");
		track(patientBackend(pool, "elsewhere.kept")).verify();
	}

	@Test
	void deferredKeyInPostgresIsRejected() {
		HikariDataSource pool = opened(Database.POSTGRESQL, 4);
		JdbcTemplate jdbc = createTablesWithoutKey(pool, "deferred");
		jdbc.execute("ALTER TABLE deferred ADD PRIMARY KEY (lock_id) DEFERRABLE");
		assertRejected(track(patientBackend(pool, "deferred")),
				"'deferred' has no unique key (lock_id), or a deferrable one");
	}

	@Test
	void keyOfSomeRowsInPostgresIsRejected() {
		HikariDataSource pool = opened(Database.POSTGRESQL, 4);
		JdbcTemplate jdbc = createTablesWithoutKey(pool, "partly");
		jdbc.execute("CREATE UNIQUE INDEX partly_key ON partly (lock_id) WHERE token > 0");
		JdbcLockBackend store = track(patientBackend(pool, "partly"));
		assertRejected(store, "'partly' has no unique key (lock_id)");
		jdbc.execute("CREATE UNIQUE INDEX whole_key ON partly (lock_id) INCLUDE (owner)");
		store.verify();
	}

	@Test
	void keyWithAnExpressionInPostgresIsRejected() {
		HikariDataSource pool = opened(Database.POSTGRESQL, 4);
		createTablesWithoutKey(pool, "computed")
			.execute("CREATE UNIQUE INDEX computed_key ON computed (lock_id, lower(owner))");
		assertRejected(track(patientBackend(pool, "computed")), "'computed' has no unique key (lock_id)");
	}

	@Test
	void tablesOfMariaDbWithoutTransactionsAreRejected() {
		HikariDataSource pool = opened(Database.MARIADB, 4);
		pool.setConnectionInitSql("SET default_storage_engine = 'Aria'");
		JdbcTemplate jdbc = new JdbcTemplate(pool);
		createTables(pool, "without_transactions");
		JdbcLockBackend store = track(patientBackend(pool, "without_transactions"));
		for (String table : List.of("without_transactions", "without_transactions_reader")) {
			assertRejected(store, "has the storage engine 'Aria', which has no transactions", "ENGINE = InnoDB");
			jdbc.execute("ALTER TABLE %s ENGINE = InnoDB".formatted(table));
		}
		store.verify();
	}

	/** The rows of other locks would match the key of a lock. */
	@Test
	void keyOfAPrefixInMariaDbIsRejected() {
		HikariDataSource pool = opened(Database.MARIADB, 4);
		createTables(pool, "prefixed");
		new JdbcTemplate(pool).execute("ALTER TABLE prefixed DROP PRIMARY KEY, ADD UNIQUE prefixed_key (lock_id(10))");
		assertRejected(track(patientBackend(pool, "prefixed")), "'prefixed' has no primary key (lock_id)");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", ";DATABASE_TO_UPPER=FALSE", ";DATABASE_TO_LOWER=TRUE", ";MODE=PostgreSQL" })
	void oldInformationSchemaOfH2IsAccepted(String setting) {
		HikariDataSource pool = track(new HikariDataSource());
		pool.setJdbcUrl("jdbc:h2:mem:%s;OLD_INFORMATION_SCHEMA=TRUE%s".formatted(UUID.randomUUID(), setting));
		createTables(pool, "old");
		JdbcTemplate jdbc = new JdbcTemplate(pool);
		jdbc.execute("CREATE TABLE without_key AS SELECT * FROM old");
		jdbc.execute("CREATE TABLE without_key_reader AS SELECT * FROM old_reader");
		track(patientBackend(pool, "old")).verify();
		assertRejected(track(patientBackend(pool, "without_key")), "'without_key' has no unique key (lock_id)");
		jdbc.execute("CREATE SCHEMA elsewhere");
		createTables(pool, "elsewhere.without_key");
		assertRejected(track(patientBackend(pool, "without_key")), "'without_key' has no unique key (lock_id)");
		track(patientBackend(pool, "elsewhere.without_key")).verify();
	}

}
