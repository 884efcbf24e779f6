package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Transactional;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.JdbcLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.MariaDbServer;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for an application whose locks and data are in the same database, and whose
 * transactions and locks share a connection pool.
 */
class JdbcCallerTests {

	private static final int THREADS = 2;

	private static final int ROUNDS = 40;

	@AutoClose
	private static final PostgresServer postgres = PostgresServer.started();

	@AutoClose
	private static final MariaDbServer mariaDb = MariaDbServer.started();

	private static ApplicationContextRunner runner(String database, int connections) {
		boolean isPostgres = database.equals("postgres");
		return new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					JdbcLockAutoConfiguration.class, LockInterceptorAutoConfiguration.class,
					LockTransactionAutoConfiguration.class, AopAutoConfiguration.class,
					TransactionAutoConfiguration.class, TransactionManagerCustomizationAutoConfiguration.class,
					DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class, JdbcClientAutoConfiguration.class))
			.withPropertyValues("distributed-lock.backend=jdbc", "distributed-lock.jdbc.initialize-schema=always",
					"distributed-lock.wait-time=30s",
					"spring.datasource.url=" + (isPostgres ? postgres.jdbcUrl() : mariaDb.jdbcUrl()),
					"spring.datasource.username=" + (isPostgres ? PostgresServer.USERNAME : MariaDbServer.USERNAME),
					"spring.datasource.password=" + MariaDbServer.PASSWORD,
					"spring.datasource.hikari.maximum-pool-size=" + connections,
					"spring.datasource.hikari.connection-timeout=20000")
			.withBean(Counter.class);
	}

	@ParameterizedTest
	@ValueSource(strings = { "postgres", "mariadb" })
	void localeWithItsOwnDigitsChangesNoStatement(String database) {
		ApplicationContextRunner runner = runner(database, 6);
		Locale before = Locale.getDefault();
		Locale.setDefault(Locale.forLanguageTag("ar-EG"));
		try {
			assertThat("%d".formatted(1)).isNotEqualTo("1");
			runner.run((context) -> {
				LockOperations locks = context.getBean(LockOperations.class);
				assertThat(locks.<Boolean, RuntimeException>execute(LockRequest.of("locale", 42), LockHandle::isHeld))
					.isTrue();
			});
		}
		finally {
			Locale.setDefault(before);
		}
	}

	@ParameterizedTest
	@CsvSource({ "postgres, READ_COMMITTED", "postgres, REPEATABLE_READ", "postgres, SERIALIZABLE",
			"mariadb, READ_COMMITTED", "mariadb, REPEATABLE_READ", "mariadb, SERIALIZABLE" })
	void noUpdateIsLostAtAnyIsolationLevel(String database, Isolation isolation) {
		runner(database, 6).run((context) -> {
			Counter counter = context.getBean(Counter.class);
			String name = counter.create();
			atOnce(() -> {
				for (int i = 0; i < ROUNDS; i++) {
					counter.increment(name, isolation);
				}
				return null;
			});
			assertThat(counter.value(name)).isEqualTo(THREADS * ROUNDS);
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "postgres", "mariadb" })
	void poolOfOneConnectionIsEnoughForLocksAroundTransactions(String database) {
		runner(database, 1).run((context) -> {
			Counter counter = context.getBean(Counter.class);
			String name = counter.create();
			atOnce(() -> {
				for (int i = 0; i < 10; i++) {
					counter.increment(name, Isolation.READ_COMMITTED);
				}
				return null;
			});
			assertThat(counter.value(name)).isEqualTo(THREADS * 10);
		});
	}

	@Slow
	@Test
	void acquisitionsFailInTimeWhenThePoolIsExhausted() {
		ApplicationContextRunner impatient = runner("postgres", THREADS)
			.withPropertyValues("distributed-lock.wait-time=2s", "spring.datasource.hikari.connection-timeout=1000");
		impatient.run((context) -> {
			Counter counter = context.getBean(Counter.class);
			LockOperations locks = context.getBean(LockOperations.class);
			CyclicBarrier both = new CyclicBarrier(THREADS);
			List<Exception> outcomes = atOnce(() -> {
				try {
					counter.inTransaction(() -> {
						both.await();
						locks.acquire(LockRequest.of("stock", UUID.randomUUID().toString()));
						return null;
					});
					return null;
				}
				catch (Exception ex) {
					return ex;
				}
			});
			// after one failure, the other thread may obtain a connection
			assertThat(outcomes).hasAtLeastOneElementOfType(LockException.class)
				.allMatch((outcome) -> outcome == null || outcome instanceof LockException);
			String name = counter.create();
			counter.increment(name, Isolation.READ_COMMITTED);
			assertThat(counter.value(name)).isOne();
		});
	}

	@Test
	void exhaustedPoolIsNamed() {
		ApplicationContextRunner impatient = runner("postgres", 1)
			.withPropertyValues("distributed-lock.wait-time=100ms", "spring.datasource.hikari.connection-timeout=1000");
		impatient.run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			context.getBean(Counter.class)
				.inTransaction(() -> assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> locks.acquire(LockRequest.of("stock", 42)))
					.withMessageContaining("The connection pool is exhausted")
					.withMessageContaining("request timed out after")
					.withMessageContaining("'spring.datasource.hikari.maximum-pool-size'")
					.withMessageNotContaining("reachable"));
		});
	}

	@Test
	void transactionThatKeepsTheLastConnectionLosesItsLock() {
		runner("postgres", 1).withPropertyValues("distributed-lock.lease-time=1s").run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			Counter counter = context.getBean(Counter.class);
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> locks.execute(LockRequest.of("stock", 42), (handle) -> counter.inTransaction(() -> {
					Awaitility.await().until(() -> !handle.isHeld());
					return null;
				})));
		});
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void poolTimeoutLongerThanTheWaitTimeIsWarnedAbout(CapturedOutput output) {
		String property = "spring.datasource.hikari.connection-timeout=";
		runner("postgres", 1).withConfiguration(AutoConfigurations.of(LocalLockAutoConfiguration.class))
			.withPropertyValues("distributed-lock.wait-time=5s", property + "30000", "distributed-lock.backend=local")
			.run((context) -> assertThat(context).hasNotFailed());
		runner("postgres", 1).withPropertyValues("distributed-lock.wait-time=5s", property + "5000")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("The connection pool");
		runner("postgres", 1).withPropertyValues("distributed-lock.wait-time=5s", property + "30000")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).contains("waits up to 30s for a connection, longer than 'distributed-lock.wait-time' (5s)",
				"'spring.datasource.hikari.connection-timeout'");
	}

	@Test
	void attemptRolledBackByTheDatabaseIsRetried() {
		AtomicInteger failures = new AtomicInteger();
		runner("postgres", 4).run((context) -> {
			JdbcLockBackend store = new JdbcLockBackend(failing(context, failures),
					new JdbcLockOptions("retried", "holdfast_lock", Duration.ofSeconds(1), false));
			runner("postgres", 4).withBean(JdbcLockBackend.class, () -> store).run((retrying) -> {
				failures.set(3);
				String done = retrying.getBean(LockOperations.class)
					.execute(LockRequest.of("stock", 42), (handle) -> "done");
				assertThat(done).isEqualTo("done");
				assertThat(failures).hasValue(0);
			});
		});
	}

	private static DataSource failing(AssertableApplicationContext context, AtomicInteger failures) {
		return new DelegatingDataSource(context.getBean(DataSource.class)) {

			@Override
			public Connection getConnection() throws SQLException {
				if (failures.getAndUpdate((left) -> Math.max(0, left - 1)) > 0) {
					throw new SQLException("could not serialize access due to concurrent update", "40001");
				}
				return super.getConnection();
			}

		};
	}

	private static <T> List<T> atOnce(Callable<T> task) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(THREADS);
		try {
			List<Future<T>> futures = new ArrayList<>();
			for (int i = 0; i < THREADS; i++) {
				futures.add(threads.submit(task));
			}
			List<T> results = new ArrayList<>();
			for (Future<T> future : futures) {
				results.add(future.get(90, TimeUnit.SECONDS));
			}
			return results;
		}
		finally {
			threads.shutdownNow();
		}
	}

	/** A counter that reads its value and then writes the value plus one. */
	static class Counter {

		private final JdbcClient jdbc;

		private final ObjectProvider<Counter> self;

		Counter(JdbcClient jdbc, ObjectProvider<Counter> self) {
			this.jdbc = jdbc;
			this.self = self;
		}

		String create() {
			this.jdbc.sql("CREATE TABLE IF NOT EXISTS counter (name VARCHAR(36) PRIMARY KEY, value INT)").update();
			String name = UUID.randomUUID().toString();
			this.jdbc.sql("INSERT INTO counter VALUES (?, 0)").param(name).update();
			return name;
		}

		int value(String name) {
			return this.jdbc.sql("SELECT value FROM counter WHERE name = ?").param(name).query(Integer.class).single();
		}

		void increment(String name, Isolation isolation) {
			Counter proxy = this.self.getObject();
			switch (isolation) {
				case REPEATABLE_READ -> proxy.incrementRepeatableRead(name);
				case SERIALIZABLE -> proxy.incrementSerializable(name);
				default -> proxy.incrementReadCommitted(name);
			}
		}

		@DistributedLock(name = "counter", key = "#p0")
		@Transactional(isolation = Isolation.READ_COMMITTED)
		public void incrementReadCommitted(String name) {
			addOne(name);
		}

		@DistributedLock(name = "counter", key = "#p0")
		@Transactional(isolation = Isolation.REPEATABLE_READ)
		public void incrementRepeatableRead(String name) {
			addOne(name);
		}

		@DistributedLock(name = "counter", key = "#p0")
		@Transactional(isolation = Isolation.SERIALIZABLE)
		public void incrementSerializable(String name) {
			addOne(name);
		}

		private void addOne(String name) {
			int read = value(name);
			this.jdbc.sql("UPDATE counter SET value = ? WHERE name = ?").params(read + 1, name).update();
		}

		@Transactional
		public <T> T inTransaction(Callable<T> body) throws Exception {
			return body.call();
		}

	}

}
