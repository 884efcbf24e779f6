package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.sql.Savepoint;
import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
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
				Savepoint savepoint = jdbc.execute((ConnectionCallback<Savepoint>) Connection::setSavepoint);
				this.unbind = LockContext.bind(TestHold.of("42", 10, "a"));
				fence.beforeBody(null);
				jdbc.execute((ConnectionCallback<Void>) (connection) -> {
					connection.rollback(savepoint);
					return null;
				});
				CompletableFuture.runAsync(() -> {
					Runnable end = LockContext.bind(TestHold.of("42", 20, "b"));
					transaction.executeWithoutResult((successor) -> {
					});
					end.run();
				}).join();
			}));
	}

}
