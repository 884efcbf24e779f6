package io.holdfast.lock.fencing;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.spi.LockDigest;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Contract of every guard in a database, in addition to {@link FencingGuardContract}.
 */
abstract class JdbcFencingGuardContract implements FencingGuardContract {

	private static final String TABLE = "holdfast_fence";

	private final DataSource dataSource = dataSource();

	abstract DataSource dataSource();

	abstract FenceSql sql();

	JdbcFencingGuard onTable() {
		return new JdbcFencingGuard(this.dataSource, TABLE, (hold) -> LockDigest.of(hold.backend(), hold.lock()),
				this::sql);
	}

	@Override
	public FencingGuard guard() {
		emptyTable();
		JdbcFencingGuard guard = onTable();
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource));
		return (hold) -> transaction.executeWithoutResult((status) -> guard.advance(hold));
	}

	/**
	 * Advances a fence whose table does not exist, with the statement of its database.
	 */
	void advanceWithoutTable() {
		DataSource database = dataSource();
		JdbcFencingGuard guard = new JdbcFencingGuard(database, "no_such_table", (hold) -> "1");
		new TransactionTemplate(new DataSourceTransactionManager(database))
			.executeWithoutResult((status) -> guard.advance(TestHold.of("42", 10, "a")));
	}

	private void emptyTable() {
		new ResourceDatabasePopulator(
				new ByteArrayResource(JdbcFencingGuard.schema(TABLE).getBytes(StandardCharsets.UTF_8)))
			.execute(this.dataSource);
		new JdbcTemplate(this.dataSource).update("DELETE FROM " + TABLE);
	}

	private static void assertWaits(CompletableFuture<Void> other) {
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> other.get(300, TimeUnit.MILLISECONDS));
	}

	@Test
	void successorWaitsForTheEarlierTransaction() throws Exception {
		FencingGuard guard = guard();
		guard.advance(TestHold.of("42", 5, "earlier"));
		try (Connection transaction = this.dataSource.getConnection()) {
			transaction.setAutoCommit(false);
			onTable().on(transaction).advance(TestHold.of("42", 10, "a"));
			CompletableFuture<Void> successor = CompletableFuture
				.runAsync(() -> guard.advance(TestHold.of("42", 20, "b")));
			CompletableFuture<Void> another = CompletableFuture
				.runAsync(() -> guard.advance(TestHold.of("43", 20, "c")));
			another.get(10, TimeUnit.SECONDS);
			assertWaits(successor);
			transaction.commit();
			successor.get(10, TimeUnit.SECONDS);
		}
	}

	/** A database that reads a small table as a whole locks all of its rows. */
	@Test
	void severalLocksDoNotWaitForTheTransactionOfAnother() throws Exception {
		FencingGuard guard = guard();
		List.of("a", "b", "c", "d").forEach((lock) -> guard.advance(TestHold.of(lock, 5, "earlier")));
		try (Connection transaction = this.dataSource.getConnection()) {
			transaction.setAutoCommit(false);
			onTable().on(transaction).advance(TestHold.of("d", 10, "y"));
			CompletableFuture
				.runAsync(() -> guard.advance(FencingGuardContract.several(TestHold.of("a", 10, "x"),
						TestHold.of("b", 10, "x"), TestHold.of("c", 10, "x"))))
				.get(10, TimeUnit.SECONDS);
		}
	}

	@Test
	void overtakenHolderIsRefusedWhenItsSuccessorCommits() throws Exception {
		FencingGuard guard = guard();
		guard.advance(TestHold.of("42", 5, "earlier"));
		try (Connection transaction = this.dataSource.getConnection()) {
			transaction.setAutoCommit(false);
			onTable().on(transaction).advance(TestHold.of("42", 20, "b"));
			CompletableFuture<Void> overtaken = CompletableFuture
				.runAsync(() -> guard.advance(TestHold.of("42", 10, "a")));
			transaction.commit();
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> overtaken.get(10, TimeUnit.SECONDS))
				.havingCause()
				.isInstanceOf(StaleFencingTokenException.class);
		}
	}

	/** The row lock would end with the statement. */
	@Test
	void connectionWithoutATransactionIsRefused() throws Exception {
		guard();
		try (Connection connection = this.dataSource.getConnection()) {
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> onTable().on(connection).advance(TestHold.of("42", 10, "a")))
				.withMessageContainingAll("Lock 'stock:42'", "auto-commit", "setAutoCommit(false)");
		}
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> onTable().advance(TestHold.reader("42", 10, "a")));
	}

	@Test
	void rolledBackTokenIsNotRecorded() throws Exception {
		FencingGuard guard = guard();
		try (Connection transaction = this.dataSource.getConnection()) {
			transaction.setAutoCommit(false);
			onTable().on(transaction).advance(TestHold.of("42", 20, "b"));
			transaction.rollback();
		}
		guard.advance(TestHold.of("42", 10, "a"));
	}

	@Test
	void writerWaitsForTheTransactionOfAReader() throws Exception {
		FencingGuard guard = guard();
		// MariaDB also locks the gap in which a new row would be
		guard.advance(TestHold.of("43", 10, "c"));
		try (Connection transaction = this.dataSource.getConnection()) {
			transaction.setAutoCommit(false);
			onTable().on(transaction).advance(TestHold.reader("42", 10, "a"));
			CompletableFuture<Void> writer = CompletableFuture
				.runAsync(() -> guard.advance(TestHold.of("42", 20, "b")));
			guard.advance(TestHold.of("43", 20, "c"));
			assertWaits(writer);
			transaction.commit();
			writer.get(10, TimeUnit.SECONDS);
		}
	}

	/** At REPEATABLE READ, a search for a missing row may lock a gap. */
	@Test
	void firstHoldersOfDifferentLocksDoNotDeadlock() {
		guard();
		JdbcFencingGuard guard = onTable();
		TransactionTemplate transaction = new TransactionTemplate(new DataSourceTransactionManager(this.dataSource));
		for (int round = 0; round < 10; round++) {
			String prefix = round + "-";
			CyclicBarrier together = new CyclicBarrier(8);
			IntStream.range(0, 8)
				.mapToObj((lock) -> CompletableFuture.runAsync(() -> transaction.executeWithoutResult((status) -> {
					await(together);
					guard.advance(TestHold.of(prefix + lock, 10, "a"));
				})))
				.toList()
				.forEach(CompletableFuture::join);
		}
	}

	private static void await(CyclicBarrier together) {
		try {
			together.await(20, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

}
