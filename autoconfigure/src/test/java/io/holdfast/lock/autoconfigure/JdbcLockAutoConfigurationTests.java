package io.holdfast.lock.autoconfigure;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.jdbc.JdbcLockBackend;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link JdbcLockAutoConfiguration}.
 */
class JdbcLockAutoConfigurationTests {

	/** The isolation of the caller's transaction. */
	enum Isolation {

		READ_COMMITTED(TransactionDefinition.ISOLATION_READ_COMMITTED),
		REPEATABLE_READ(TransactionDefinition.ISOLATION_REPEATABLE_READ),
		SERIALIZABLE(TransactionDefinition.ISOLATION_SERIALIZABLE);

		private final int level;

		Isolation(int level) {
			this.level = level;
		}

	}

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
						JdbcLockAutoConfiguration.class, LockTransactionAutoConfiguration.class,
						DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class))
		.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + System.nanoTime(),
				"spring.datasource.hikari.maximum-pool-size=1", "spring.datasource.hikari.connection-timeout=2000");

	@Test
	void databaseOfTheApplicationAloneIsNoLockStore() {
		this.runner.run((context) -> {
			assertThat(context).doesNotHaveBean(JdbcLockBackend.class);
			assertThat(context.getBean(LockBackends.class).defaultName()).isEqualTo("local");
		});
	}

	@Test
	void embeddedDatabaseGetsItsTablesAndKeepsLocks() {
		this.runner.withPropertyValues("distributed-lock.backend=jdbc").run((context) -> {
			try (LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
				assertThat(handle.backend()).isEqualTo("jdbc");
				assertThat(owners(context.getBean(DataSource.class))).isOne();
			}
			Awaitility.await().untilAsserted(() -> assertThat(owners(context.getBean(DataSource.class))).isZero());
		});
	}

	private static int owners(DataSource dataSource) {
		return JdbcClient.create(dataSource)
			.sql("SELECT COUNT(*) FROM holdfast_lock WHERE owner <> ''")
			.query(Integer.class)
			.single();
	}

	@ParameterizedTest
	@EnumSource
	void poolOfOneConnectionIsEnoughAroundATransaction(Isolation isolation) {
		this.runner.withPropertyValues("distributed-lock.backend=jdbc").run((context) -> {
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			transaction.setIsolationLevel(isolation.level);
			LockOperations locks = context.getBean(LockOperations.class);
			for (int i = 0; i < 20; i++) {
				String result = locks.execute(LockRequest.of("stock", 42),
						(handle) -> transaction.execute((status) -> "done"));
				assertThat(result).isEqualTo("done");
			}
		});
	}

	@Test
	void releaseAfterTheCallersTransactionNeedsNoSecondConnection() {
		this.runner
			.withPropertyValues("distributed-lock.backend=jdbc", "distributed-lock.await-release=true",
					"spring.datasource.hikari.maximum-pool-size=2")
			.run((context) -> {
				DataSource dataSource = context.getBean(DataSource.class);
				LockOperations locks = context.getBean(LockOperations.class);
				new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
					.executeWithoutResult((status) -> {
						locks.acquire(LockRequest.of("stock", 42)).close();
						// occupies the only connection that the transaction does not use
						holdUntilAfterCompletion(dataSource);
					});
				Awaitility.await()
					.atMost(10, TimeUnit.SECONDS)
					.untilAsserted(() -> assertThat(owners(dataSource)).isZero());
			});
	}

	private static void holdUntilAfterCompletion(DataSource dataSource) {
		try {
			Connection connection = dataSource.getConnection();
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
				@Override
				public void afterCompletion(int status) {
					try {
						connection.close();
					}
					catch (SQLException ex) {
						throw new IllegalStateException(ex);
					}
				}
			});
		}
		catch (SQLException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void lockIsNeitherRolledBackNorCommittedWithTheCallersTransaction() {
		this.runner.withPropertyValues("distributed-lock.backend=jdbc", "spring.datasource.hikari.maximum-pool-size=2")
			.run((context) -> {
				LockOperations locks = context.getBean(LockOperations.class);
				DataSource dataSource = context.getBean(DataSource.class);
				JdbcClient jdbc = JdbcClient.create(dataSource);
				jdbc.sql("CREATE TABLE note (text VARCHAR(10))").update();
				LockHandle kept = new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
					.execute((status) -> {
						jdbc.sql("INSERT INTO note VALUES ('a')").update();
						LockHandle handle = locks.acquire(LockRequest.of("stock", 42));
						status.setRollbackOnly();
						return handle;
					});
				assertThat(owners(dataSource)).isOne();
				assertThat(jdbc.sql("SELECT COUNT(*) FROM note").query(Integer.class).single()).isZero();
				kept.close();
			});
	}

	@Test
	void missingTablesStopTheStartWithTheScriptsName() {
		this.runner.withPropertyValues("distributed-lock.backend=jdbc", "distributed-lock.jdbc.initialize-schema=never")
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining(
						"The tables 'holdfast_lock' and 'holdfast_lock_reader' of the backend 'jdbc' do not exist")
				.hasStackTraceContaining("io/holdfast/lock/backend/jdbc/schema.sql"));
	}

	/** A schema does not appear by itself, so the start does not wait for it. */
	@Test
	void missingSchemaStopsTheStartWithoutRetries() {
		this.runner.withPropertyValues("distributed-lock.backend=jdbc", "distributed-lock.jdbc.table=nosuch.locks")
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining("cannot be created, which 'distributed-lock.jdbc.initialize-schema' asks for")
				.hasStackTraceContaining("Schema \"NOSUCH\" not found")
				.hasStackTraceContaining("Correct that, such as a missing schema"));
		this.runner
			.withPropertyValues("distributed-lock.backend=jdbc", "distributed-lock.jdbc.table=nosuch.locks",
					"distributed-lock.jdbc.initialize-schema=never")
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining("The tables 'nosuch.locks' and 'nosuch.locks_reader' of the backend 'jdbc'"));
	}

	@Slow
	@Test
	void unreachableDatabaseStopsTheStartOrIsAwaited() {
		ApplicationContextRunner unreachable = this.runner.withPropertyValues("distributed-lock.backend=jdbc",
				"spring.datasource.url=jdbc:postgresql://127.0.0.1:1/nowhere?connectTimeout=1",
				"spring.datasource.hikari.connection-timeout=500", "distributed-lock.startup-timeout=100ms");
		unreachable.run((context) -> assertThat(context.getStartupFailure())
			.hasStackTraceContaining(
					"Locks are kept in the database of the backend 'jdbc', which could not be used within 100ms")
			.hasStackTraceContaining("distributed-lock.fail-fast=false"));
		unreachable.withPropertyValues("distributed-lock.fail-fast=false")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@Test
	void tableThatIsNotAnIdentifierStopsTheStart() {
		this.runner.withPropertyValues("distributed-lock.backend=jdbc", "distributed-lock.jdbc.table=a; drop table b")
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("'distributed-lock.jdbc.table' is 'a; drop table b'"));
	}

	@Test
	void anotherDataSourceMayBeNamed() {
		this.runner
			.withBean("locks", DataSource.class,
					() -> new DriverManagerDataSource("jdbc:h2:mem:locks;DB_CLOSE_DELAY=-1"))
			.withPropertyValues("distributed-lock.backend=jdbc", "distributed-lock.jdbc.data-source=locks",
					"distributed-lock.jdbc.initialize-schema=always")
			.run((context) -> {
				LockOperations locks = context.getBean(LockOperations.class);
				try (LockHandle handle = locks.acquire(LockRequest.forLock(LockName.of("stock")).build())) {
					assertThat(handle.isHeld()).isTrue();
					assertThat(owners(context.getBean("locks", DataSource.class))).isOne();
				}
			});
	}

}
