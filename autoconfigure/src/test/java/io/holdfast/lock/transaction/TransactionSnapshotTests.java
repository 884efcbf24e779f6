package io.holdfast.lock.transaction;

import javax.sql.DataSource;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LocalLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.test.server.MariaDbServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a lock in a transaction of one manager inside that of another, whose
 * isolation level is another one. The data sources read from a snapshot by default.
 */
class TransactionSnapshotTests {

	@AutoClose
	private static final MariaDbServer mariaDb = MariaDbServer.started();

	private static final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
				LocalLockAutoConfiguration.class, LockTransactionAutoConfiguration.class))
		.withPropertyValues("distributed-lock.backend=local")
		.withBean("one", PlatformTransactionManager.class, TransactionSnapshotTests::manager)
		.withBean("other", PlatformTransactionManager.class, TransactionSnapshotTests::manager);

	private static PlatformTransactionManager manager() {
		return new JdbcTransactionManager(database(""));
	}

	private static DataSource database(String parameters) {
		return new DriverManagerDataSource(mariaDb.jdbcUrl() + parameters, MariaDbServer.USERNAME,
				MariaDbServer.PASSWORD);
	}

	private static TransactionTemplate transaction(PlatformTransactionManager manager, int isolation) {
		TransactionTemplate template = new TransactionTemplate(manager);
		template.setIsolationLevel(isolation);
		return template;
	}

	private static int locked(LockOperations locks) {
		return locks.execute(LockRequest.of("stock"), (handle) -> 1);
	}

	private static void read(PlatformTransactionManager manager) {
		DataSource dataSource = ((JdbcTransactionManager) manager).getDataSource();
		new JdbcTemplate(dataSource).queryForObject("SELECT 1", Integer.class);
	}

	@Test
	void levelOfOneTransactionIsNotTheDefaultOfTheNext() {
		runner.run((context) -> {
			PlatformTransactionManager one = context.getBean("one", PlatformTransactionManager.class);
			PlatformTransactionManager other = context.getBean("other", PlatformTransactionManager.class);
			LockOperations locks = context.getBean(LockOperations.class);
			TransactionTemplate readCommitted = transaction(one, TransactionDefinition.ISOLATION_READ_COMMITTED);
			readCommitted.executeWithoutResult((outer) -> transaction(other, TransactionDefinition.ISOLATION_DEFAULT)
				.executeWithoutResult((inner) -> assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> locked(locks))));
			transaction(one, TransactionDefinition.ISOLATION_DEFAULT).executeWithoutResult((status) -> {
				read(one);
				assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> locked(locks))
					.withMessageContaining("REPEATABLE READ");
			});
			assertThat(readCommitted.<Integer>execute((status) -> locked(locks))).isOne();
		});
	}

	@Test
	void snapshotOfAnOuterTransactionIsRefused() {
		runner.run((context) -> {
			PlatformTransactionManager one = context.getBean("one", PlatformTransactionManager.class);
			PlatformTransactionManager other = context.getBean("other", PlatformTransactionManager.class);
			LockOperations locks = context.getBean(LockOperations.class);
			transaction(one, TransactionDefinition.ISOLATION_DEFAULT).executeWithoutResult((outer) -> {
				read(one);
				transaction(other, TransactionDefinition.ISOLATION_READ_COMMITTED)
					.executeWithoutResult((inner) -> assertThatExceptionOfType(LockConfigurationException.class)
						.isThrownBy(() -> locked(locks))
						.withMessageContaining("REPEATABLE READ"));
			});
		});
	}

	/** Begins a snapshot beside the current transaction. */
	private static void assertSnapshotIsRefused(DataSource other, LockOperations locks) {
		new JdbcTemplate(other).queryForObject("SELECT 1", Integer.class);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> locked(locks))
			.withMessageContaining("REPEATABLE READ");
	}

	/** The level of the current transaction is not that of the other connection. */
	@Test
	void snapshotOfAConnectionBesideTheTransactionIsRefused() {
		DataSource other = database("?autocommit=false");
		runner.run((context) -> transaction(context.getBean("one", PlatformTransactionManager.class),
				TransactionDefinition.ISOLATION_READ_COMMITTED)
			.executeWithoutResult((status) -> assertSnapshotIsRefused(other, context.getBean(LockOperations.class))));
	}

	/** Such as one of messages. */
	@Test
	void snapshotBesideATransactionWithoutAConnectionIsRefused() {
		DataSource other = database("?autocommit=false");
		runner.withBean("messages", PlatformTransactionManager.class, WithoutConnection::new)
			.run((context) -> transaction(context.getBean("messages", PlatformTransactionManager.class),
					TransactionDefinition.ISOLATION_READ_COMMITTED)
				.executeWithoutResult(
						(status) -> assertSnapshotIsRefused(other, context.getBean(LockOperations.class))));
	}

	/** With auto-commit, each statement reads what was committed before it. */
	@Test
	void connectionThatCommitsEachStatementHasNoSnapshot() {
		DataSource other = database("");
		runner.run((context) -> new TransactionTemplate(
				new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:snapshot")))
			.executeWithoutResult((status) -> {
				new JdbcTemplate(other).queryForObject("SELECT 1", Integer.class);
				assertThat(locked(context.getBean(LockOperations.class))).isOne();
			}));
	}

	private static final class WithoutConnection extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
