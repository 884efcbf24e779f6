package io.holdfast.lock.fencing;

import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.test.server.MariaDbServer;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a transaction inside another one that has passed the fence, and that the
 * database has ended since: after a failed statement, a deadlock or a lost connection.
 */
class FencedInnerTransactionTests {

	/**
	 * The databases, and what ends a transaction on the server. A pool closes a
	 * connection that is lost. An operator or a timeout of the server ends a session
	 * without the knowledge of its client.
	 */
	enum End {

		POSTGRESQL_FAILURE("SELECT 1 / 0"), POSTGRESQL_LOSS("SELECT pg_terminate_backend(pg_backend_pid())"),
		POSTGRESQL_POOLED_LOSS(POSTGRESQL_LOSS.statement),
		POSTGRESQL_UNNOTICED_LOSS("SELECT pg_terminate_backend(%s, 10000)"), MARIADB_DEADLOCK("ROLLBACK"),
		MARIADB_LOSS("KILL CONNECTION_ID()"), MARIADB_POOLED_LOSS(MARIADB_LOSS.statement),
		MARIADB_UNNOTICED_LOSS("KILL %s");

		private final String statement;

		End(String statement) {
			this.statement = statement;
		}

		boolean isOf(String part) {
			return name().contains(part);
		}

	}

	@AutoClose
	private static final PostgresServer postgres = PostgresServer.started();

	@AutoClose
	private static final MariaDbServer mariaDb = MariaDbServer.started();

	/** Ends a wait that would never end. */
	private static final String LOCK_TIMEOUT = "&options=-c%20lock_timeout=10s";

	private HikariDataSource pool;

	private JdbcTemplate jdbc;

	private TransactionFence fence;

	private TransactionTemplate outer;

	private TransactionTemplate inner;

	@AfterEach
	void close() {
		if (this.pool != null) {
			this.pool.close();
		}
	}

	private void open(End end) {
		DataSource dataSource = end.isOf("POSTGRESQL") ? new DriverManagerDataSource(postgres.jdbcUrl() + LOCK_TIMEOUT)
				: new DriverManagerDataSource(mariaDb.jdbcUrl(), MariaDbServer.USERNAME, MariaDbServer.PASSWORD);
		if (end.isOf("POOLED")) {
			HikariConfig config = new HikariConfig();
			config.setDataSource(dataSource);
			this.pool = new HikariDataSource(config);
			dataSource = this.pool;
		}
		TestFence.clear(dataSource);
		this.jdbc = new JdbcTemplate(dataSource);
		this.fence = TestFence.of(dataSource);
		DataSourceTransactionManager manager = TestFence.manager(dataSource, this.fence);
		this.outer = new TransactionTemplate(manager);
		this.inner = new TransactionTemplate(manager);
		this.inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
	}

	private void holding(long token, String owner, Runnable action) {
		Runnable unbind = LockContext.bind(TestHold.of("42", token, owner));
		try {
			action.run();
		}
		finally {
			unbind.run();
		}
	}

	private void inOuterThatEnds(End end, Runnable body) {
		inOuterThatEnds(end, () -> {
		}, body);
	}

	private void inOuterThatEnds(End end, Runnable before, Runnable body) {
		try {
			this.outer.executeWithoutResult((status) -> {
				status.setRollbackOnly();
				before.run();
				endOnServer(end);
				body.run();
			});
		}
		catch (TransactionSystemException ex) {
			assertThat(end.name()).as("the rollback failed").endsWith("LOSS");
		}
	}

	private void endOnServer(End end) {
		if (end.isOf("UNNOTICED")) {
			endOnServer(end, session(end));
			return;
		}
		try {
			this.jdbc.execute(end.statement);
		}
		catch (DataAccessException ex) {
			assertThat(end).isNotEqualTo(End.MARIADB_DEADLOCK);
		}
	}

	private String session(End end) {
		return this.jdbc.queryForObject(end.isOf("POSTGRESQL") ? "SELECT pg_backend_pid()" : "SELECT CONNECTION_ID()",
				String.class);
	}

	private void endOnServer(End end, String session) {
		CompletableFuture.runAsync(() -> this.jdbc.execute(end.statement.formatted(session))).join();
	}

	private void write(String work) {
		this.jdbc.update("INSERT INTO fence VALUES (?, 'work', 1, 'a')", work);
	}

	private void writeWithSuccessor() {
		CompletableFuture
			.runAsync(() -> holding(20, "b", () -> this.outer.executeWithoutResult((successor) -> write("new"))))
			.join();
	}

	private boolean exists(String work) {
		return !this.jdbc.queryForList("SELECT 1 FROM fence WHERE lock_id = ?", work).isEmpty();
	}

	@ParameterizedTest
	@EnumSource
	void staleHolderIsRefused(End end) {
		open(end);
		holding(10, "a", () -> inOuterThatEnds(end, () -> {
			writeWithSuccessor();
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> this.inner.executeWithoutResult((nested) -> write("old")));
		}));
		assertThat(exists("new")).isTrue();
		assertThat(exists("old")).isFalse();
	}

	/** An asynchronous acquisition binds its hold to no thread. */
	@ParameterizedTest
	@EnumSource
	void staleHolderOfNoThreadIsRefused(End end) {
		open(end);
		TestHold hold = TestHold.of("42", 10, "a");
		inOuterThatEnds(end, () -> this.fence.advance(hold), () -> {
			writeWithSuccessor();
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> this.inner.executeWithoutResult((nested) -> {
					this.fence.advance(hold);
					write("old");
				}));
		});
		assertThat(exists("new")).isTrue();
		assertThat(exists("old")).isFalse();
	}

	/** Such as a manager that is no bean. */
	@ParameterizedTest
	@EnumSource
	void staleHolderIsRefusedUnderAManagerWithoutListener(End end) {
		open(end);
		TransactionTemplate other = new TransactionTemplate(new DataSourceTransactionManager(this.jdbc.getDataSource()),
				this.inner);
		holding(10, "a", () -> inOuterThatEnds(end, () -> {
			writeWithSuccessor();
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> other.executeWithoutResult((nested) -> {
					this.fence.beforeBody(null);
					write("old");
				}));
		}));
		assertThat(exists("old")).isFalse();
	}

	/**
	 * The failed statement has undone what came after the savepoint, but the row from
	 * before is still locked. Waiting for it would never end.
	 */
	@Test
	void innerTransactionIsRefusedIfASavepointMayKeepTheRow() {
		open(End.POSTGRESQL_FAILURE);
		TransactionTemplate nested = new TransactionTemplate(this.outer.getTransactionManager());
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		holding(10, "a", () -> this.outer.executeWithoutResult((status) -> {
			status.setRollbackOnly();
			nested.executeWithoutResult((savepoint) -> {
				savepoint.setRollbackOnly();
				endOnServer(End.POSTGRESQL_FAILURE);
				assertThatExceptionOfType(DataAccessException.class)
					.isThrownBy(() -> this.inner.executeWithoutResult((failure) -> write("failure")))
					.withMessageContainingAll("Lock 'stock:42'", "savepoint");
			});
			this.inner.executeWithoutResult((failure) -> write("after the savepoint"));
			nested.executeWithoutResult((savepoint) -> {
			});
			endOnServer(End.POSTGRESQL_FAILURE);
			this.inner.executeWithoutResult((failure) -> write("another"));
		}));
		assertThat(exists("failure")).isFalse();
		assertThat(exists("after the savepoint")).isTrue();
		assertThat(exists("another")).isTrue();
	}

	/** PostgreSQL releases no savepoint after a failed statement. */
	@Test
	void innerTransactionIsRefusedIfTheSavepointWasNotReleased() {
		open(End.POSTGRESQL_FAILURE);
		TransactionTemplate nested = new TransactionTemplate(this.outer.getTransactionManager());
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		holding(10, "a", () -> this.outer.executeWithoutResult((status) -> {
			status.setRollbackOnly();
			assertThatExceptionOfType(TransactionSystemException.class)
				.isThrownBy(() -> nested.executeWithoutResult((savepoint) -> endOnServer(End.POSTGRESQL_FAILURE)));
			assertThatExceptionOfType(DataAccessException.class)
				.isThrownBy(() -> this.inner.executeWithoutResult((failure) -> write("failure")))
				.withMessageContainingAll("Lock 'stock:42'", "savepoint");
		}));
		assertThat(exists("failure")).isFalse();
	}

	/** Nothing is left of the savepoint that was not released. */
	@Test
	void innerTransactionPassesAfterARollbackToAnEarlierSavepoint() {
		open(End.POSTGRESQL_FAILURE);
		TransactionTemplate nested = new TransactionTemplate(this.outer.getTransactionManager());
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		holding(10, "a", () -> this.outer.executeWithoutResult((status) -> {
			status.setRollbackOnly();
			nested.executeWithoutResult((earlier) -> {
				earlier.setRollbackOnly();
				assertThatExceptionOfType(TransactionSystemException.class)
					.isThrownBy(() -> nested.executeWithoutResult((savepoint) -> endOnServer(End.POSTGRESQL_FAILURE)));
			});
			endOnServer(End.POSTGRESQL_FAILURE);
			this.inner.executeWithoutResult((failure) -> write("failure"));
		}));
		assertThat(exists("failure")).isTrue();
	}

	@ParameterizedTest
	@EnumSource
	void validHolderWrites(End end) {
		open(end);
		holding(10, "a", () -> inOuterThatEnds(end, () -> {
			this.inner.executeWithoutResult((nested) -> write("failure"));
			this.inner.executeWithoutResult((nested) -> write("another"));
		}));
		assertThat(exists("failure")).isTrue();
		assertThat(exists("another")).isTrue();
	}

	/**
	 * The outer transaction is idle meanwhile, so a timeout of the server ends it before
	 * the inner one. The row is then free.
	 */
	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL_UNNOTICED_LOSS", "MARIADB_UNNOTICED_LOSS" })
	void staleHolderIsRefusedIfTheOuterOneEndsDuringTheInnerOne(End end) {
		open(end);
		assertThatExceptionOfType(TransactionSystemException.class)
			.isThrownBy(() -> holding(10, "a", () -> this.outer.executeWithoutResult((status) -> {
				String session = session(end);
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> this.inner.executeWithoutResult((nested) -> {
						write("old");
						endOnServer(end, session);
						writeWithSuccessor();
					}));
			})));
		assertThat(exists("new")).isTrue();
		assertThat(exists("old")).isFalse();
	}

	/** Both have passed with the hold, and the inner one without a row of its own. */
	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL_UNNOTICED_LOSS", "MARIADB_UNNOTICED_LOSS" })
	void staleHolderOfNoThreadIsRefusedIfTheOuterOneEnds(End end) {
		open(end);
		TestHold hold = TestHold.of("42", 10, "a");
		assertThatExceptionOfType(TransactionSystemException.class)
			.isThrownBy(() -> this.outer.executeWithoutResult((status) -> {
				this.fence.advance(hold);
				String session = session(end);
				assertThatExceptionOfType(StaleFencingTokenException.class)
					.isThrownBy(() -> this.inner.executeWithoutResult((nested) -> {
						this.fence.advance(hold);
						write("old");
						endOnServer(end, session);
						writeWithSuccessor();
					}));
			}));
		assertThat(exists("new")).isTrue();
		assertThat(exists("old")).isFalse();
	}

	/**
	 * The outer one keeps the rows of all its locks until it has rolled back. Only at the
	 * commit does a template learn that it was rejected.
	 */
	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL_FAILURE", "MARIADB_DEADLOCK" })
	void innerTransactionDoesNotWaitForTheRowsOfARejectedOne(End end) {
		open(end);
		writeWithSuccessor();
		Runnable unbind = LockContext.bind(TestHold.of("43", 10, "a"));
		holding(10, "a",
				() -> assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> this.outer
					.executeWithoutResult((status) -> assertThatExceptionOfType(StaleFencingTokenException.class)
						.isThrownBy(() -> this.inner.executeWithoutResult((nested) -> write("old"))))));
		this.outer.executeWithoutResult((status) -> write("other lock"));
		unbind.run();
		assertThat(exists("old")).isFalse();
		assertThat(exists("other lock")).isTrue();
		assertThat(PassedHolds.isEmpty()).isTrue();
	}

	/** InnoDB keeps the row locks of what it undoes. */
	@ParameterizedTest
	@EnumSource(names = { "POSTGRESQL_FAILURE", "MARIADB_DEADLOCK" })
	void innerTransactionDoesNotWaitForWhatASavepointHasLocked(End end) {
		open(end);
		this.jdbc.update("INSERT INTO fence VALUES ('stock:42', 'stock:42', 1, 'earlier')");
		TransactionTemplate nested = new TransactionTemplate(this.outer.getTransactionManager());
		nested.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
		this.outer.executeWithoutResult((status) -> {
			write("outer");
			holding(10, "a", () -> {
				nested.executeWithoutResult(TransactionExecution::setRollbackOnly);
				this.inner.executeWithoutResult((first) -> write("first"));
				this.inner.executeWithoutResult((second) -> write("second"));
			});
		});
		assertThat(exists("first")).isTrue();
		assertThat(exists("second")).isTrue();
	}

	/** PostgreSQL then no longer shows that the second one has used the table. */
	@Test
	void thirdTransactionDoesNotWaitForTheFirstOneAfterASavepoint() {
		open(End.POSTGRESQL_FAILURE);
		holding(10, "a", () -> this.outer.executeWithoutResult((first) -> this.inner.executeWithoutResult((second) -> {
			Object savepoint = second.createSavepoint();
			IntStream.range(0, 20).forEach((i) -> this.fence.advance(TestHold.of("other" + i, 10, "a")));
			second.rollbackToSavepoint(savepoint);
			this.inner.executeWithoutResult((third) -> write("third"));
		})));
		assertThat(exists("third")).isTrue();
	}

}
