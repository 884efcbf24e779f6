package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.jdbc.datasource.lookup.IsolationLevelDataSourceRouter;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;

/**
 * Tests for the connections that locks in H2 share with the application.
 */
class H2ConnectionTests {

	@AutoClose
	private final HikariDataSource pool = new HikariDataSource();

	@BeforeEach
	void createTables() {
		this.pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
		this.pool.setMaximumPoolSize(1);
		JdbcContract.createTables(this.pool);
	}

	/** In H2, the timeout of a statement is one of its connection. */
	@ParameterizedTest
	@EnumSource
	void locksLeaveNoTimeoutOnTheConnectionOfTheApplication(LockMode mode) throws Exception {
		LockBackend store = JdbcContract.backend(this.pool);
		Grant grant = granted(store, OnEveryDatabase.nonWaiting(OnEveryDatabase.newLock(), mode));
		renewed(store, grant);
		released(store, grant);
		try (Connection connection = this.pool.getConnection(); Statement statement = connection.createStatement()) {
			assertThat(statement.getQueryTimeout()).isZero();
		}
	}

	/** The time zone of a session is that of its JVM, and the clocks may go forward. */
	@Test
	void leaseLastsInEveryTimeZone() throws Exception {
		try (HikariDataSource east = new HikariDataSource()) {
			east.setJdbcUrl(this.pool.getJdbcUrl());
			east.setConnectionInitSql("SET TIME ZONE '+05:00'");
			JdbcClient.create(this.pool).sql("SET TIME ZONE 'UTC'").update();
			LockBackend store = JdbcContract.backend(this.pool);
			LockBackend inTheEast = JdbcContract.backend(east);
			LockName lock = OnEveryDatabase.newLock();
			Grant grant = granted(store, OnEveryDatabase.nonWaiting(lock, LockMode.EXCLUSIVE));
			refused(inTheEast, OnEveryDatabase.nonWaiting(lock, LockMode.EXCLUSIVE));
			released(inTheEast, grant);
		}
	}

	@Test
	void threadWithAConnectionDoesNotWaitForAnother() throws Exception {
		LockBackend store = JdbcContract.backend(this.pool);
		released(store, granted(store, OnEveryDatabase.nonWaiting(OnEveryDatabase.newLock(), LockMode.EXCLUSIVE)));
		assertThat(store.releasesOnCaller()).isTrue();
		new TransactionTemplate(new DataSourceTransactionManager(this.pool))
			.executeWithoutResult((status) -> assertThat(store.releasesOnCaller()).isFalse());
		assertThat(store.releasesOnCaller()).isTrue();
	}

	/** Drivers count milliseconds in an int, which ends after 24 days. */
	@Test
	void timeoutMayBeLongerThanADriverCanCount() throws Exception {
		AtomicReference<String> limit = new AtomicReference<>();
		JdbcConnections connections = new JdbcConnections(
				HookedConnections.beforeEach(this.pool, (method, arguments) -> {
					if (method.equals("setNetworkTimeout")) {
						limit.compareAndSet(null, arguments);
					}
				}), (int) Duration.ofDays(30).toSeconds());
		connections.together((jdbc) -> jdbc.getJdbcOperations().queryForObject("SELECT 1", Integer.class));
		assertThat(limit.get()).endsWith(" " + Integer.MAX_VALUE + "]");
	}

	/** Returning the connection to its pool would commit the first statement. */
	@Test
	void errorBetweenTwoStatementsCommitsNeither() {
		JdbcConnections connections = new JdbcConnections(this.pool, 1);
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> connections.together((jdbc) -> {
			jdbc.getJdbcOperations().update("INSERT INTO holdfast_lock_reader VALUES ('id', 'owner', 1, 1)");
			throw new StackOverflowError();
		}));
		assertThat(JdbcClient.create(this.pool).sql("SELECT COUNT(*) FROM holdfast_lock_reader").query().singleValue())
			.isEqualTo(0L);
	}

	/** Restoring the auto-commit of the connection would commit the first statement. */
	@Test
	void errorOfTheRollbackCommitsNothingAndHidesNothing() {
		StackOverflowError failure = new StackOverflowError();
		StackOverflowError again = new StackOverflowError();
		AtomicBoolean once = new AtomicBoolean(true);
		JdbcConnections connections = new JdbcConnections(
				HookedConnections.before(this.pool, "rollback", "null", () -> {
					if (once.getAndSet(false)) {
						throw again;
					}
					return null;
				}), 1);
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(() -> connections.together((jdbc) -> {
			jdbc.getJdbcOperations().update("INSERT INTO holdfast_lock_reader VALUES ('id', 'owner', 1, 1)");
			throw failure;
		})).isSameAs(failure).satisfies((thrown) -> assertThat(thrown.getSuppressed()).contains(again));
		assertThat(JdbcClient.create(this.pool).sql("SELECT COUNT(*) FROM holdfast_lock_reader").query().singleValue())
			.isEqualTo(0L);
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
	}

	/** H2 does not abort, and some pools leave a returned connection as it is. */
	@Test
	void connectionWhoseRollbackFailedOnceReturnsWithoutATransaction() throws Exception {
		AtomicBoolean once = new AtomicBoolean(true);
		try (Connection only = this.pool.getConnection()) {
			DataSource lasting = new SingleConnectionDataSource(only, true);
			JdbcConnections connections = new JdbcConnections(
					HookedConnections.before(lasting, "rollback", "null", () -> {
						if (once.getAndSet(false)) {
							throw new StackOverflowError();
						}
						return null;
					}), 1);
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> connections.together((jdbc) -> {
				jdbc.getJdbcOperations().update("INSERT INTO holdfast_lock_reader VALUES ('id', 'owner', 1, 1)");
				throw new IllegalStateException();
			}));
			assertThat(only.getAutoCommit()).isTrue();
			assertThat(
					JdbcClient.create(lasting).sql("SELECT COUNT(*) FROM holdfast_lock_reader").query().singleValue())
				.isEqualTo(0L);
		}
	}

	/** The stack of the caller may end anywhere. */
	@ParameterizedTest
	@ValueSource(strings = { "getNetworkTimeout", "getAutoCommit" })
	void errorBeforeTheFirstStatementReturnsTheConnection(String method) {
		JdbcConnections connections = new JdbcConnections(HookedConnections.before(this.pool, method, "null", () -> {
			throw new StackOverflowError();
		}), 1);
		assertThatExceptionOfType(StackOverflowError.class).isThrownBy(connections::keep);
		assertThat(this.pool.getHikariPoolMXBean().getActiveConnections()).isZero();
	}

	/** A routing data source may lead such a transaction to a replica. */
	@Test
	void lockInAReadOnlyTransactionIsInTheDatabaseOfAllOthers() throws Exception {
		AbstractRoutingDataSource routing = new AbstractRoutingDataSource() {

			@Override
			protected Object determineCurrentLookupKey() {
				return TransactionSynchronizationManager.isCurrentTransactionReadOnly();
			}

		};
		DataSource replica = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID());
		routing.setTargetDataSources(Map.of(true, replica, false, this.pool));
		routing.afterPropertiesSet();
		DataSource lazy = new LazyConnectionDataSourceProxy(routing);
		LockBackend store = JdbcContract.backend(lazy);
		TransactionTemplate readOnly = new TransactionTemplate(new DataSourceTransactionManager(lazy));
		readOnly.setReadOnly(true);
		Grant grant = readOnly.execute((status) -> {
			Grant granted = assertDoesNotThrow(
					() -> granted(store, OnEveryDatabase.nonWaiting(OnEveryDatabase.newLock(), LockMode.EXCLUSIVE)));
			assertThat(TransactionSynchronizationManager.isCurrentTransactionReadOnly()).isTrue();
			return granted;
		});
		released(store, grant);
	}

	/** Spring's router chooses a database by the isolation level of the transaction. */
	@Test
	void lockDoesNotFollowTheIsolationLevelOfATransaction() throws Exception {
		IsolationLevelDataSourceRouter routing = new IsolationLevelDataSourceRouter();
		DataSource other = new DriverManagerDataSource("jdbc:h2:mem:" + UUID.randomUUID());
		routing.setTargetDataSources(Map.of("ISOLATION_SERIALIZABLE", other));
		routing.setDefaultTargetDataSource(this.pool);
		routing.afterPropertiesSet();
		DataSource lazy = new LazyConnectionDataSourceProxy(routing);
		LockBackend store = JdbcContract.backend(lazy);
		TransactionTemplate serializable = new TransactionTemplate(new DataSourceTransactionManager(lazy));
		serializable.setIsolationLevel(Connection.TRANSACTION_SERIALIZABLE);
		Grant grant = serializable.execute((status) -> {
			Grant granted = assertDoesNotThrow(
					() -> granted(store, OnEveryDatabase.nonWaiting(OnEveryDatabase.newLock(), LockMode.EXCLUSIVE)));
			assertThat(TransactionSynchronizationManager.getCurrentTransactionIsolationLevel())
				.isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
			return granted;
		});
		released(store, grant);
	}

	@Test
	void callersDoNotWaitForADatabaseThatFails() throws Exception {
		LockBackend store = JdbcContract.backend(this.pool);
		Grant grant = granted(store, OnEveryDatabase.nonWaiting(OnEveryDatabase.newLock(), LockMode.EXCLUSIVE));
		JdbcClient jdbc = JdbcClient.create(this.pool);
		jdbc.sql("ALTER TABLE holdfast_lock RENAME TO away").update();
		assertThat(answer(store.release(grant))).isInstanceOf(ReleaseResult.Indeterminate.class);
		assertThat(store.releasesOnCaller()).isFalse();
		jdbc.sql("ALTER TABLE away RENAME TO holdfast_lock").update();
		released(store, grant);
		assertThat(store.releasesOnCaller()).isTrue();
	}

}
