package io.holdfast.lock.fencing;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.test.server.MariaDbServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a transaction that MariaDB has rolled back as the victim of a deadlock, while
 * its code ignores that and continues. The next statement begins another transaction.
 */
class FenceAfterDeadlockTests {

	@AutoClose
	private static final MariaDbServer server = MariaDbServer.started();

	private JdbcTemplate jdbc;

	private TransactionTemplate transaction;

	private TransactionFence fence;

	@BeforeEach
	void open() {
		DataSource dataSource = new DriverManagerDataSource(server.jdbcUrl(), MariaDbServer.USERNAME,
				MariaDbServer.PASSWORD);
		TestFence.clear(dataSource);
		this.jdbc = new JdbcTemplate(dataSource);
		this.jdbc
			.update("INSERT INTO fence VALUES ('x', 'work', 0, ''), ('y', 'work', 0, ''), ('stock', 'work', 9, '')");
		this.fence = TestFence.of(dataSource);
		DataSourceTransactionManager manager = TestFence.manager(dataSource, this.fence);
		this.transaction = new TransactionTemplate(manager);
	}

	private void inTransaction(long token, String owner, Runnable action) {
		Runnable unbind = LockContext.bind(TestHold.of("42", token, owner));
		try {
			this.transaction.executeWithoutResult((status) -> action.run());
		}
		finally {
			unbind.run();
		}
	}

	private void write(String row, int value) {
		this.jdbc.update("UPDATE fence SET token = ? WHERE lock_id = ?", value, row);
	}

	private int read(String row) {
		return this.jdbc.queryForObject("SELECT token FROM fence WHERE lock_id = ?", Integer.class, row);
	}

	private void ignoreDeadlock() {
		CyclicBarrier both = new CyclicBarrier(2);
		write("x", 1);
		CompletableFuture<Void> rival = CompletableFuture
			.runAsync(() -> this.transaction.executeWithoutResult((status) -> {
				write("y", 1);
				// of two transactions, the server rolls back the one that has written
				// less
				IntStream.range(0, 20)
					.forEach((i) -> this.jdbc.update("INSERT INTO fence VALUES (?, 'rival', 0, '')", "rival" + i));
				await(both);
				write("x", 2);
			}));
		await(both);
		assertThatExceptionOfType(PessimisticLockingFailureException.class).isThrownBy(() -> write("y", 2));
		rival.join();
	}

	private static void await(CyclicBarrier barrier) {
		try {
			barrier.await();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void staleHolderDoesNotCommit() {
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> inTransaction(10, "a", () -> {
			ignoreDeadlock();
			int left = read("stock") - 1;
			CompletableFuture.runAsync(() -> inTransaction(20, "b", () -> write("stock", read("stock") - 3))).join();
			write("stock", left);
		}));
		assertThat(read("stock")).isEqualTo(6);
	}

	@Test
	void staleHolderThatIsBoundToNoThreadDoesNotCommit() {
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.transaction.executeWithoutResult((status) -> {
				this.fence.advance(TestHold.of("42", 10, "a"));
				ignoreDeadlock();
				int left = read("stock") - 1;
				CompletableFuture.runAsync(() -> inTransaction(20, "b", () -> write("stock", read("stock") - 3)))
					.join();
				write("stock", left);
			}));
		assertThat(read("stock")).isEqualTo(6);
	}

	@Test
	void laterHoldOfTheSameLockCommits() {
		this.transaction.executeWithoutResult((status) -> {
			this.fence.advance(TestHold.of("42", 10, "a"));
			this.fence.advance(TestHold.of("42", 20, "b"));
			write("stock", 5);
		});
		assertThat(read("stock")).isEqualTo(5);
	}

	@Test
	void validHolderCommits() {
		inTransaction(10, "a", () -> {
			ignoreDeadlock();
			write("stock", read("stock") - 1);
		});
		assertThat(read("stock")).isEqualTo(8);
		inTransaction(10, "a", () -> write("stock", read("stock") - 1));
		assertThat(read("stock")).isEqualTo(7);
	}

}
