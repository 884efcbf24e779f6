package io.holdfast.lock.fencing;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.test.server.MariaDbServer;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Tests for transactions that read from a snapshot, and whose snapshot does not show a
 * holder that has passed the fence.
 */
class FencedIsolationTests {

	/** The databases, all with transactions. */
	enum Database {

		H2, POSTGRESQL, MARIADB,

		/**
		 * Configured with the default of newer versions: a change since the snapshot is
		 * an error.
		 */
		STRICT_MARIADB;

		/**
		 * Whether a statement fails if another holder has passed and the snapshot does
		 * not show it.
		 */
		boolean mayHide(int isolation) {
			return this != MARIADB && isolation != Connection.TRANSACTION_READ_COMMITTED;
		}

	}

	@AutoClose
	private static final PostgresServer postgres = PostgresServer.started();

	@AutoClose
	private static final MariaDbServer mariaDb = MariaDbServer.started();

	static Stream<Arguments> isolations() {
		return Arrays.stream(Database.values())
			.flatMap((database) -> Stream
				.of(Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ,
						Connection.TRANSACTION_SERIALIZABLE)
				.map((level) -> Arguments.of(database, level)));
	}

	private DataSource dataSource;

	private JdbcTemplate jdbc;

	private TransactionFence fence;

	private TransactionTemplate transaction;

	private Runnable unbind = () -> {
	};

	private void open(Database database, int isolation) {
		this.dataSource = switch (database) {
			case H2 -> new DriverManagerDataSource("jdbc:h2:mem:isolation;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000");
			case POSTGRESQL -> new DriverManagerDataSource(postgres.jdbcUrl());
			case MARIADB -> mariaDb("");
			case STRICT_MARIADB -> mariaDb("?sessionVariables=innodb_snapshot_isolation=1");
		};
		this.jdbc = new JdbcTemplate(this.dataSource);
		this.fence = new TransactionFence(
				new JdbcFencingGuard(this.dataSource, "holdfast_fence", (hold) -> hold.lock().toString()),
				this.dataSource, Object::toString, (method, type) -> null, (hold) -> true, (refusal) -> {
				});
		DataSourceTransactionManager manager = new DataSourceTransactionManager(this.dataSource);
		manager.addListener(new FenceListener(() -> this.fence));
		this.transaction = new TransactionTemplate(manager);
		this.transaction.setIsolationLevel(isolation);
		new ResourceDatabasePopulator(
				new ByteArrayResource(JdbcFencingGuard.schema("holdfast_fence").getBytes(StandardCharsets.UTF_8)))
			.execute(this.dataSource);
		this.jdbc.execute("CREATE TABLE IF NOT EXISTS stock (quantity INT)");
		this.jdbc.execute("CREATE TABLE IF NOT EXISTS other (id INT)");
		List.of("DELETE FROM holdfast_fence", "DELETE FROM stock", "INSERT INTO stock VALUES (100)",
				"INSERT INTO holdfast_fence VALUES ('stock:42', 'stock:42', 5, 'earlier')")
			.forEach(this.jdbc::update);
	}

	private static DataSource mariaDb(String variables) {
		return new DriverManagerDataSource(mariaDb.jdbcUrl() + variables, MariaDbServer.USERNAME,
				MariaDbServer.PASSWORD);
	}

	@AfterEach
	void unbind() {
		this.unbind.run();
		assertThat(LockContext.handles()).isEmpty();
	}

	private void hold(long token, String owner) {
		this.unbind = LockContext.bind(TestHold.of("42", token, owner));
	}

	/** Sells one item as the holder of this thread. */
	private void sell() {
		this.transaction.executeWithoutResult((status) -> {
			this.fence.beforeBody("Orders.place()");
			sellOne();
		});
	}

	private void sellOne() {
		this.jdbc.update("UPDATE stock SET quantity = ?", quantity() - 1);
	}

	private int quantity() {
		return this.jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
	}

	private static void assertOvertaken(Throwable outcome) {
		assertThat(outcome).isInstanceOf(StaleFencingTokenException.class)
			.hasMessageContainingAll("'stock:42'", "token 10", "token 20", "Repeat the call");
	}

	/** The message cannot name the newer holder if the snapshot hides the other one. */
	private static void assertMustRepeat(Throwable outcome, Database database, int isolation) {
		assertThat(database.mayHide(isolation)).isTrue();
		assertThat(outcome).isInstanceOf(ConcurrencyFailureException.class)
			.hasMessageContainingAll("'stock:42' (backend redis, token ", "since this transaction took its snapshot",
					"Repeat the call")
			.hasStackTraceContaining("SQLException");
	}

	private static void assertRefused(Throwable outcome, Database database, int isolation) {
		if (outcome instanceof StaleFencingTokenException) {
			assertOvertaken(outcome);
		}
		else {
			assertMustRepeat(outcome, database, isolation);
		}
	}

	private CompletableFuture<Throwable> inAnotherThread(long token, String owner, ThrowingCallable task) {
		return CompletableFuture.supplyAsync(() -> {
			Runnable end = LockContext.bind(TestHold.of("42", token, owner));
			try {
				return catchThrowable(task);
			}
			finally {
				end.run();
			}
		});
	}

	/**
	 * Starts a task that must not complete before the transaction of this thread does.
	 */
	private CompletableFuture<Throwable> waitingInAnotherThread(long token, String owner, ThrowingCallable task) {
		CompletableFuture<Throwable> other = inAnotherThread(token, owner, task);
		assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> other.get(300, TimeUnit.MILLISECONDS));
		return other;
	}

	@ParameterizedTest
	@MethodSource("isolations")
	void holderIsRefusedAfterTheNewHolderHasCommitted(Database database, int isolation) throws Exception {
		open(database, isolation);
		assertThat(inAnotherThread(20, "newHolder", this::sell).get(10, TimeUnit.SECONDS)).isNull();
		hold(10, "overtaken");
		assertOvertaken(catchThrowable(this::sell));
		assertThat(quantity()).isEqualTo(99);
	}

	@ParameterizedTest
	@MethodSource("isolations")
	void holderThatWaitedForTheNewHolderIsRefused(Database database, int isolation) throws Exception {
		open(database, isolation);
		hold(20, "newHolder");
		CompletableFuture<Throwable> overtaken = this.transaction.execute((status) -> {
			sellOne();
			return waitingInAnotherThread(10, "overtaken", this::sell);
		});
		assertRefused(overtaken.get(10, TimeUnit.SECONDS), database, isolation);
		assertThat(quantity()).isEqualTo(99);
	}

	@ParameterizedTest
	@MethodSource("isolations")
	void holderWithASnapshotBeforeTheNewHolderIsRefused(Database database, int isolation) {
		open(database, isolation);
		assertRefused(catchThrowable(() -> this.transaction.executeWithoutResult((status) -> {
			this.jdbc.queryForList("SELECT * FROM other");
			assertThat(inAnotherThread(20, "newHolder", this::sell).join()).isNull();
			hold(10, "overtaken");
			this.fence.beforeBody("Orders.place()");
			sellOne();
		})), database, isolation);
		assertThat(quantity()).isEqualTo(99);
	}

	/** In that case the first statement of the body may be the one that fails. */
	@ParameterizedTest
	@MethodSource("isolations")
	void transactionWithoutACheckBeforeItsBodyIsRefusedToo(Database database, int isolation) throws Exception {
		open(database, isolation);
		hold(20, "newHolder");
		CompletableFuture<Throwable> overtaken = this.transaction.execute((status) -> waitingInAnotherThread(10,
				"overtaken", () -> this.transaction.executeWithoutResult((inner) -> sellOne())));
		Throwable outcome = overtaken.get(10, TimeUnit.SECONDS);
		if (outcome instanceof UncategorizedSQLException) {
			assertThat(outcome).hasRootCauseMessage("ERROR: could not serialize access due to concurrent update");
		}
		else {
			assertRefused(outcome, database, isolation);
		}
		assertThat(quantity()).isEqualTo(100);
	}

	/**
	 * A holder that waited at the fence must not compute from data read before the wait.
	 */
	@ParameterizedTest
	@MethodSource("isolations")
	void waitingSuccessorSeesEarlierWritesOrMustRepeat(Database database, int isolation) throws Exception {
		open(database, isolation);
		hold(10, "predecessor");
		CompletableFuture<Throwable> successor = this.transaction.execute((status) -> {
			sellOne();
			return waitingInAnotherThread(20, "successor", this::sell);
		});
		Throwable outcome = successor.get(10, TimeUnit.SECONDS);
		if (outcome != null) {
			assertMustRepeat(outcome, database, isolation);
			assertThat(inAnotherThread(20, "successor", this::sell).get(10, TimeUnit.SECONDS)).isNull();
		}
		assertThat(quantity()).isEqualTo(98);
	}

}
