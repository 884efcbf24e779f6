package io.holdfast.lock.transaction;

import javax.sql.DataSource;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.test.server.PostgresServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a lock in a transaction beside a connection whose isolation level cannot be
 * read. Nothing else can be read with that connection, either.
 */
class UnreadableLevelTests {

	@AutoClose
	private static final PostgresServer postgres = PostgresServer.started();

	private static final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockTransactionAutoConfiguration.class))
		.withPropertyValues("distributed-lock.backend=local")
		.withBean("postgres", PlatformTransactionManager.class, () -> manager(postgres.jdbcUrl()))
		.withBean("h2", PlatformTransactionManager.class, () -> manager("jdbc:h2:mem:level"));

	private static PlatformTransactionManager manager(String url) {
		return new JdbcTransactionManager(new DriverManagerDataSource(url));
	}

	private static TransactionTemplate transaction(AssertableApplicationContext context, String manager) {
		return new TransactionTemplate(context.getBean(manager, PlatformTransactionManager.class));
	}

	private static JdbcTemplate jdbc(AssertableApplicationContext context, String manager) {
		DataSource dataSource = context.getBean(manager, JdbcTransactionManager.class).getDataSource();
		assertThat(dataSource).isNotNull();
		return new JdbcTemplate(dataSource);
	}

	private static void fail(AssertableApplicationContext context) {
		assertThatExceptionOfType(DataAccessException.class)
			.isThrownBy(() -> jdbc(context, "postgres").execute("SELECT 1 / 0"));
	}

	private static int locked(AssertableApplicationContext context) {
		return context.getBean(LockOperations.class).execute(LockRequest.of("stock"), (handle) -> 1);
	}

	@Test
	void outerTransactionOfAnotherManagerHasFailed() {
		runner.run((context) -> transaction(context, "postgres").executeWithoutResult((outer) -> {
			fail(context);
			assertThat(transaction(context, "h2").<Integer>execute((inner) -> locked(context))).isOne();
		}));
	}

	@Test
	void transactionItselfHasFailed() {
		runner.run((context) -> transaction(context, "postgres").executeWithoutResult((status) -> {
			fail(context);
			assertThat(locked(context)).isOne();
		}));
	}

	@Test
	void connectionOfAnotherDataSourceWasReturnedDuringASuspension() {
		runner.run((context) -> transaction(context, "postgres").executeWithoutResult((status) -> {
			jdbc(context, "h2").execute("SELECT 1");
			TransactionTemplate suspending = transaction(context, "postgres");
			suspending.setPropagationBehavior(TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
			suspending.executeWithoutResult((none) -> {
			});
			assertThat(locked(context)).isOne();
		}));
	}

}
