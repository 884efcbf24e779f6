package io.holdfast.lock.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.boot.sql.init.DatabaseInitializationMode;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ScriptStatementFailedException;

import io.holdfast.lock.backend.jdbc.JdbcLockBackend;
import io.holdfast.lock.fencing.JdbcFencingGuard;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link TableScripts} on PostgreSQL, where {@code CREATE TABLE IF NOT EXISTS}
 * fails if another session creates the same table at the same time.
 */
@Slow
class TableScriptsTests {

	@AutoClose
	private static final PostgresServer postgres = PostgresServer.started();

	private static final DriverManagerDataSource dataSource = new DriverManagerDataSource(postgres.jdbcUrl(),
			PostgresServer.USERNAME, "any");

	@Test
	void instanceStartsWhileAnotherCreatesEachTable() throws Exception {
		String script = JdbcLockBackend.schema("met");
		CompletableFuture<Void> instance;
		try (Connection first = transaction(); Connection second = transaction()) {
			run(first, "CREATE TABLE met (lock_id INT)");
			run(second, "CREATE TABLE met_reader (lock_id INT)");
			instance = CompletableFuture.runAsync(() -> make(script));
			awaitStatementThatWaits("CREATE TABLE IF NOT EXISTS met (%");
			first.commit();
			awaitStatementThatWaits("CREATE TABLE IF NOT EXISTS met_reader (%");
			second.commit();
		}
		assertThat(instance).succeedsWithin(10, TimeUnit.SECONDS);
	}

	@Test
	void manyInstancesStartAtOnce() {
		IntStream.range(0, 10).forEach((round) -> {
			CompletableFuture<?>[] instances = IntStream.range(0, 8)
				.mapToObj((instance) -> CompletableFuture.runAsync(() -> {
					make(JdbcLockBackend.schema("lock" + round));
					make(JdbcFencingGuard.schema("fence" + round));
				}, (task) -> new Thread(task).start()))
				.toArray(CompletableFuture<?>[]::new);
			assertThat(CompletableFuture.allOf(instances)).succeedsWithin(30, TimeUnit.SECONDS);
		});
	}

	@Test
	void locksInUseShareNoPage() {
		make(JdbcLockBackend.schema("spread"));
		make(JdbcFencingGuard.schema("spread_fence"));
		assertThat(JdbcClient.create(dataSource)
			.sql("SELECT relname FROM pg_class WHERE relname LIKE 'spread%' AND 'fillfactor=25' = ANY (reloptions) ORDER BY 1")
			.query(String.class)
			.list()).containsExactly("spread", "spread_fence");
	}

	@Test
	void rejectedScriptStopsTheStartWithTheReason() {
		assertThatExceptionOfType(ScriptStatementFailedException.class)
			.isThrownBy(() -> make(JdbcLockBackend.schema("nowhere.locks")))
			.withStackTraceContaining("schema \"nowhere\" does not exist");
	}

	private static void make(String script) {
		TableScripts.initialize(dataSource, DatabaseInitializationMode.ALWAYS, script);
	}

	private static Connection transaction() throws SQLException {
		Connection connection = dataSource.getConnection();
		connection.setAutoCommit(false);
		return connection;
	}

	private static void run(Connection connection, String sql) throws SQLException {
		try (Statement statement = connection.createStatement()) {
			statement.execute(sql);
		}
	}

	private static void awaitStatementThatWaits(String pattern) {
		JdbcClient jdbc = JdbcClient.create(dataSource);
		Awaitility.await()
			.until(() -> jdbc
				.sql("SELECT COUNT(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE ?")
				.param(pattern)
				.query(Long.class)
				.single() == 1);
	}

}
