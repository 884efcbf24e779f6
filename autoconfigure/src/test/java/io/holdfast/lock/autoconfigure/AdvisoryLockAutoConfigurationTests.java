package io.holdfast.lock.autoconfigure;

import java.sql.DriverManager;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.MapPropertySource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.jdbc.AdvisoryLockBackend;
import io.holdfast.lock.backend.jdbc.JdbcLockBackend;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the property {@code distributed-lock.jdbc.mode}.
 */
class AdvisoryLockAutoConfigurationTests {

	@AutoClose
	private static final PostgresServer server = PostgresServer.started();

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(DistributedLockAutoConfiguration.class, LocalLockAutoConfiguration.class,
						JdbcLockAutoConfiguration.class, LockTransactionAutoConfiguration.class,
						DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class))
		.withPropertyValues("distributed-lock.jdbc.mode=advisory", "distributed-lock.jdbc.initialize-schema=always",
				"spring.datasource.url=" + server.jdbcUrl(), "spring.datasource.hikari.maximum-pool-size=1",
				"spring.datasource.hikari.connection-timeout=2000");

	@Test
	void modeSelectsTheBackend() {
		this.runner.run((context) -> {
			assertThat(context).hasSingleBean(AdvisoryLockBackend.class).doesNotHaveBean(JdbcLockBackend.class);
			try (LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
				assertThat(handle.backend()).isEqualTo("jdbc");
				assertThat(advisoryLocks()).isOne();
			}
		});
	}

	/** A properties file keeps the blank at the end of a line. */
	@ParameterizedTest
	@ValueSource(strings = { "advisory ", "ADVISORY", " advisory" })
	void modeIsReadAsItsPropertyIsBound(String mode) {
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new MapPropertySource("file", Map.of("distributed-lock.jdbc.mode", mode))))
			.run((context) -> assertThat(context).hasSingleBean(AdvisoryLockBackend.class)
				.doesNotHaveBean(JdbcLockBackend.class));
	}

	@Test
	void modeRowsIsTheDefault() {
		this.runner.withPropertyValues("distributed-lock.jdbc.mode=rows")
			.run((context) -> assertThat(context).hasSingleBean(JdbcLockBackend.class)
				.doesNotHaveBean(AdvisoryLockBackend.class));
	}

	/** The pool of the application has one connection, which the transaction needs. */
	@Test
	void locksUseAPoolOfTheirOwn() {
		this.runner.run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			DataSource dataSource = context.getBean(DataSource.class);
			TransactionTemplate transaction = new TransactionTemplate(
					context.getBean(PlatformTransactionManager.class));
			for (int i = 0; i < 5; i++) {
				int key = i;
				int result = locks.execute(LockRequest.of("stock", key), (handle) -> transaction
					.execute((status) -> JdbcClient.create(dataSource).sql("SELECT 1").query(Integer.class).single()));
				assertThat(result).isOne();
			}
		});
		awaitEndOfSessions();
	}

	private static int advisoryLocks() {
		return count("pg_locks WHERE locktype = 'advisory'");
	}

	/** PostgreSQL ends a session after its client has closed it. */
	private static void awaitEndOfSessions() {
		Awaitility.await("the end of the application's sessions")
			.until(() -> count(
					"pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()") == 0);
	}

	private static int count(String what) {
		return JdbcClient.create(new DriverManagerDataSource(server.jdbcUrl()))
			.sql("SELECT COUNT(*) FROM " + what)
			.query(Integer.class)
			.single();
	}

	@Slow
	@Test
	void exhaustedPoolIsReportedWithItsProperty() {
		this.runner.withPropertyValues("distributed-lock.jdbc.advisory.max-connections=1").run((context) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			try (LockHandle handle = locks.acquire(LockRequest.of("stock", 1))) {
				assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> locks
						.acquire(LockRequest.of("stock", 2).toBuilder().waitTime(Duration.ofMillis(500)).build()))
					.havingCause()
					.withMessageContaining("'distributed-lock.jdbc.advisory.max-connections'");
				handle.assertHeld();
			}
		});
	}

	@Test
	void namedPoolIsUsedAndLeftOpen() {
		HikariDataSource named = new HikariDataSource();
		named.setJdbcUrl(server.jdbcUrl());
		try (named) {
			this.runner.withBean("locks", DataSource.class, () -> named, (bean) -> bean.setDestroyMethodName(""))
				.withPropertyValues("distributed-lock.jdbc.data-source=locks")
				.run((context) -> {
					try (LockHandle handle = context.getBean(LockOperations.class)
						.acquire(LockRequest.of("stock", 42))) {
						assertThat(named.getHikariPoolMXBean().getActiveConnections()).isOne();
						handle.assertHeld();
					}
				});
			assertThat(named.isClosed()).isFalse();
		}
	}

	@Test
	void poolBehindAProxyIsCopied() {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(server.jdbcUrl());
		try (pool) {
			this.runner.withBean(DataSource.class, () -> new LazyConnectionDataSourceProxy(pool)).run((context) -> {
				try (LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
					assertThat(pool.getHikariPoolMXBean().getActiveConnections()).as("of the application").isZero();
					handle.assertHeld();
				}
			});
		}
	}

	/** A pool sets the timeout of the JVM, and that of locks has a short one. */
	@Test
	void loginTimeoutOfTheApplicationStays() {
		this.runner.withPropertyValues("spring.datasource.hikari.connection-timeout=20000").run((context) -> {
			try (Connection connection = context.getBean(DataSource.class).getConnection()) {
				assertThat(connection.isValid(1)).isTrue();
			}
			int before = DriverManager.getLoginTimeout();
			try (LockHandle handle = context.getBean(LockOperations.class).acquire(LockRequest.of("stock", 42))) {
				handle.assertHeld();
			}
			assertThat(DriverManager.getLoginTimeout()).isEqualTo(before).isGreaterThan(2);
		});
	}

	@Test
	void dataSourceThatCannotBeCopiedStopsTheStart() {
		this.runner.withBean(DataSource.class, () -> new DriverManagerDataSource(server.jdbcUrl()))
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.hasMessageContaining("DriverManagerDataSource")
				.hasMessageContaining("'distributed-lock.jdbc.data-source'"));
	}

	@Slow
	@Test
	void otherDatabaseStopsTheStart() {
		this.runner.withPropertyValues("spring.datasource.url=jdbc:h2:mem:advisory")
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining("needs PostgreSQL 14 or later, but the database is H2"));
	}

	@Test
	void missingSequenceStopsTheStart() {
		this.runner
			.withPropertyValues("distributed-lock.jdbc.initialize-schema=never", "distributed-lock.jdbc.table=missing")
			.run((context) -> assertThat(context.getStartupFailure()).hasStackTraceContaining("'missing_token'")
				.hasStackTraceContaining("io/holdfast/lock/backend/jdbc/advisory-schema.sql"));
	}

	/**
	 * Without 'fail-fast', a store that is away does not stop the start, but this does.
	 */
	@Test
	void startThatFailsWithoutACheckClosesThePoolOfLocks() {
		this.runner.withPropertyValues("distributed-lock.fail-fast=false", "distributed-lock.jdbc.table=missing.locks")
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining("'distributed-lock.jdbc.initialize-schema'"));
		awaitEndOfSessions();
	}

	@Slow
	@Test
	void unknownModeStopsTheStart() {
		this.runner.withPropertyValues("distributed-lock.jdbc.mode=row")
			.run((context) -> assertThat(context.getStartupFailure())
				.hasStackTraceContaining("distributed-lock.jdbc.mode"));
	}

}
