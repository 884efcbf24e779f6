package io.holdfast.lock.transaction;

import java.time.Duration;
import java.util.List;
import java.util.function.LongSupplier;

import org.awaitility.Awaitility;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcClientAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.backend.local.LocalLockBackend;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An application whose methods write notes, in transactions and under the lock {@code
 * note}. Its connection pool has one connection.
 */
abstract class NoteApplication {

	/** The transaction manager of the application. */
	enum Manager {

		JDBC, JPA

	}

	final TransactionHistory history = new TransactionHistory();

	final MovableClock clock = new MovableClock();

	ApplicationContextRunner runner(Manager manager) {
		ApplicationContextRunner runner = new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LockInterceptorAutoConfiguration.class, LockTransactionAutoConfiguration.class,
					AopAutoConfiguration.class, TransactionAutoConfiguration.class,
					TransactionManagerCustomizationAutoConfiguration.class, DataSourceAutoConfiguration.class,
					DataSourceTransactionManagerAutoConfiguration.class, JdbcTemplateAutoConfiguration.class,
					JdbcClientAutoConfiguration.class))
			.withPropertyValues("spring.datasource.url=jdbc:h2:mem:" + System.nanoTime(),
					"spring.datasource.hikari.maximum-pool-size=1", "spring.datasource.hikari.connection-timeout=1000",
					"spring.jpa.hibernate.ddl-auto=none", "distributed-lock.backend=local")
			.withBean(LocalLockBackend.class, () -> new LocalLockBackend(this.clock))
			.withBean(TransactionHistory.class, () -> this.history)
			.withBean(Inner.class)
			.withBean(Outer.class);
		return (manager == Manager.JPA)
				? runner.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class)) : runner;
	}

	void run(Scenario test) {
		run(Manager.JDBC, test);
	}

	void run(Manager manager, Scenario test) {
		runner(manager).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(JdbcClient.class).sql("create table note (text varchar(100))").update();
			Outer outer = context.getBean(Outer.class);
			test.run(context, outer, context.getBean(Inner.class));
			// a release waits for a renewal that is under way
			Awaitility.await("all locks to be released")
				.pollDelay(Duration.ZERO)
				.until(() -> context.getBean(LocalLockBackend.class).inUse().isEmpty());
			assertThat(LockHandle.current()).isEmpty();
		});
	}

	static List<String> notes(AssertableApplicationContext context) {
		return context.getBean(JdbcClient.class).sql("select text from note order by text").query(String.class).list();
	}

	@FunctionalInterface
	interface Scenario {

		void run(AssertableApplicationContext context, Outer outer, Inner inner);

	}

	/** The store's clock, which a test can move. */
	static final class MovableClock implements LongSupplier {

		volatile long nanos;

		@Override
		public long getAsLong() {
			return System.nanoTime() + this.nanos;
		}

	}

	static class Inner {

		private final JdbcClient jdbc;

		Inner(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(name = "note", leaseTime = "1s")
		@Transactional
		public void write(String text) {
			this.jdbc.sql("insert into note values (?)").param(text).update();
		}

		@DistributedLock(name = "note", leaseTime = "1s")
		@Transactional
		public void writeAndThen(String text, Runnable then) {
			this.jdbc.sql("insert into note values (?)").param(text).update();
			then.run();
		}

		@DistributedLock("note")
		@Transactional
		public void fail(String text) {
			this.jdbc.sql("insert into note values (?)").param(text).update();
			throw new IllegalStateException("no");
		}

		@DistributedLock("note")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void writeInNew(String text) {
			this.jdbc.sql("insert into note values (?)").param(text).update();
		}

		@DistributedLock(name = "note", waitTime = "0s", fallback = "transaction")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public String writeInNewOrGetCaller() {
			throw new IllegalStateException("locked");
		}

		String transaction() {
			return TransactionSynchronizationManager.getCurrentTransactionName();
		}

		@DistributedLock(name = "note", leaseTime = "1s")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void writeInNewAndThen(String text, Runnable then) {
			this.jdbc.sql("insert into note values (?)").param(text).update();
			then.run();
		}

		@DistributedLock("note")
		@Transactional(propagation = Propagation.NESTED)
		public void failNested(String text) {
			this.jdbc.sql("insert into note values (?)").param(text).update();
			throw new IllegalStateException("no");
		}

		@DistributedLock(name = "note", leaseTime = "1s")
		@Transactional(readOnly = true)
		public void read(Runnable then) {
			then.run();
		}

	}

	static class Outer {

		@Transactional
		public void calling(Runnable body) {
			body.run();
		}

		@Transactional(isolation = Isolation.REPEATABLE_READ)
		public void callingInSnapshot(Runnable body) {
			body.run();
		}

		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public void withoutTransaction(Runnable body) {
			body.run();
		}

	}

}
