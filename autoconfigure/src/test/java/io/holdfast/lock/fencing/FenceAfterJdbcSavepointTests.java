package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.sql.Savepoint;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a transaction that passes the fence after a savepoint that Spring does not
 * know, and is rolled back to it.
 */
class FenceAfterJdbcSavepointTests {

	@AutoClose
	private static final PostgresServer server = PostgresServer.started();

	private Runnable unbind = () -> {
	};

	@AfterEach
	void unbind() {
		this.unbind.run();
	}

	private static void rollBack(JdbcTemplate jdbc, Savepoint savepoint) {
		jdbc.execute((ConnectionCallback<Void>) (connection) -> {
			connection.rollback(savepoint);
			return null;
		});
	}

	private static Savepoint savepoint(JdbcTemplate jdbc) {
		return jdbc.execute((ConnectionCallback<Savepoint>) Connection::setSavepoint);
	}

	@Test
	void staleHolderDoesNotCommit() {
		DataSource dataSource = new DriverManagerDataSource(server.jdbcUrl());
		TestFence.clear(dataSource);
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		TransactionFence fence = TestFence.of(dataSource);
		DataSourceTransactionManager manager = TestFence.manager(dataSource, fence);
		TransactionTemplate transaction = new TransactionTemplate(manager);
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> transaction.executeWithoutResult((status) -> {
				Savepoint savepoint = savepoint(jdbc);
				this.unbind = LockContext.bind(TestHold.of("42", 10, "a"));
				fence.beforeBody(null);
				rollBack(jdbc, savepoint);
				CompletableFuture.runAsync(() -> {
					Runnable end = LockContext.bind(TestHold.of("42", 20, "b"));
					transaction.executeWithoutResult((successor) -> {
					});
					end.run();
				}).join();
			}));
	}

	/**
	 * The inner one has passed by itself, because the outer one could not be asked after
	 * its failed statement.
	 */
	@Test
	void staleHolderOfNoThreadDoesNotCommitAfterAnInnerTransaction() {
		DataSource dataSource = new DriverManagerDataSource(server.jdbcUrl());
		TestFence.clear(dataSource);
		JdbcTemplate jdbc = new JdbcTemplate(dataSource);
		TransactionFence fence = TestFence.of(dataSource);
		TransactionTemplate transaction = new TransactionTemplate(TestFence.manager(dataSource, fence));
		transaction.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		TestHold hold = TestHold.of("42", 10, "a");
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> transaction.executeWithoutResult((outer) -> {
				Savepoint savepoint = savepoint(jdbc);
				fence.advance(hold);
				assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> jdbc.execute("SELECT 1 / 0"));
				transaction.executeWithoutResult((inner) -> fence.advance(hold));
				rollBack(jdbc, savepoint);
				CompletableFuture
					.runAsync(() -> transaction
						.executeWithoutResult((successor) -> fence.advance(TestHold.of("42", 20, "b"))))
					.join();
			}));
	}

}
