package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.test.server.MariaDbServer;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for several readers of locks that the fence has never seen.
 */
class ReadersAtTheFenceTests {

	/** The databases with both transactions and shared row locks. */
	enum Database {

		POSTGRESQL, MARIADB

	}

	private static final int READERS = 8;

	@AutoClose
	private static final PostgresServer postgres = PostgresServer.started();

	@AutoClose
	private static final MariaDbServer mariaDb = MariaDbServer.started();

	private final ExecutorService threads = Executors.newFixedThreadPool(READERS);

	private HikariDataSource dataSource;

	private TransactionTemplate transaction;

	private void open(Database database) {
		switch (database) {
			case POSTGRESQL -> open(postgres.jdbcUrl(), PostgresServer.USERNAME, "", READERS);
			case MARIADB -> open(mariaDb.jdbcUrl(), MariaDbServer.USERNAME, MariaDbServer.PASSWORD, READERS);
		}
		this.transaction.setIsolationLevel(Connection.TRANSACTION_REPEATABLE_READ);
	}

	private void openH2(int connections) {
		open("jdbc:h2:mem:readers;LOCK_TIMEOUT=100", "sa", "", connections);
	}

	private void open(String url, String username, String password, int connections) {
		this.dataSource = new HikariDataSource();
		this.dataSource.setJdbcUrl(url);
		this.dataSource.setUsername(username);
		this.dataSource.setPassword(password);
		this.dataSource.setMaximumPoolSize(connections);
		this.dataSource.setConnectionTimeout(TimeUnit.SECONDS.toMillis(10));
		TestFence.clear(this.dataSource);
		this.transaction = fenced(this.dataSource);
	}

	private static TransactionTemplate fenced(DataSource dataSource) {
		TransactionFence fence = TestFence.of(dataSource);
		DataSourceTransactionManager manager = TestFence.manager(dataSource, fence);
		return new TransactionTemplate(manager);
	}

	@AfterEach
	void close() {
		this.threads.shutdownNow();
		this.dataSource.close();
	}

	private void read(String key, long token, Runnable body) {
		read(key, token, (status) -> body.run());
	}

	private void read(String key, long token, Consumer<TransactionStatus> body) {
		Runnable unbind = LockContext.bind(TestHold.reader(key, token, "reader " + token));
		try {
			this.transaction.executeWithoutResult(body);
		}
		finally {
			unbind.run();
		}
	}

	private CompletableFuture<Void> reading(String key, long token, Runnable body) {
		return CompletableFuture.runAsync(() -> read(key, token, body), this.threads);
	}

	private List<Long> tokens() {
		return new JdbcTemplate(this.dataSource).queryForList("SELECT token FROM fence", Long.class);
	}

	@ParameterizedTest
	@EnumSource
	void firstReadersOfALockDoNotWaitForEachOther(Database database) {
		open(database);
		CountDownLatch allInside = new CountDownLatch(READERS);
		List<CompletableFuture<Void>> readers = IntStream.rangeClosed(1, READERS)
			.mapToObj((token) -> reading("42", token, () -> arriveAndAwait(allInside)))
			.toList();
		readers.forEach(CompletableFuture::join);
		assertThat(tokens()).containsExactly(0L);
	}

	@ParameterizedTest
	@EnumSource
	void firstReadersOfDifferentLocksDoNotDeadlock(Database database) {
		open(database);
		for (int round = 0; round < 5; round++) {
			String prefix = round + "-";
			CountDownLatch allInside = new CountDownLatch(READERS);
			IntStream.rangeClosed(1, READERS)
				.mapToObj((token) -> reading(prefix + token, token, () -> arriveAndAwait(allInside)))
				.toList()
				.forEach(CompletableFuture::join);
		}
	}

	private static void arriveAndAwait(CountDownLatch all) {
		all.countDown();
		try {
			assertThat(all.await(20, TimeUnit.SECONDS)).as("all are in their transactions at once").isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void oneConnectionIsEnough() {
		openH2(1);
		read("42", 1, () -> assertThat(this.dataSource.getHikariPoolMXBean().getActiveConnections()).isOne());
		assertThat(tokens()).containsExactly(0L);
	}

	@Test
	void threadThatMayHaveAConnectionGetsNoSecondOne() {
		openH2(1);
		Object session = new Object();
		TransactionSynchronizationManager.bindResource(session, session);
		try {
			read("42", 1, TransactionStatus::setRollbackOnly);
		}
		finally {
			TransactionSynchronizationManager.unbindResource(session);
		}
		assertThat(tokens()).as("its own transaction has made the row").isEmpty();
	}

	@Test
	void readerTimeoutNamesTheLockAndTheRemedy() {
		openH2(2);
		read("42", 1,
				() -> assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> reading("42", 2, () -> {
				}).join())
					.havingCause()
					.isInstanceOf(CannotAcquireLockException.class)
					.withMessageContainingAll("'stock:42' (backend redis, token 2)", "stopped waiting",
							"another reader", "Repeat the call", "lock timeout"));
	}

}
