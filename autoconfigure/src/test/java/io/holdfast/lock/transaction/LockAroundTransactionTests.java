package io.holdfast.lock.transaction;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
import org.springframework.context.annotation.Configuration;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.DistributedLock;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockInterceptorAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.spi.AcquireOutcome;
import io.holdfast.lock.spi.LockObserver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests when a lock is acquired and released around a transaction, in a real application
 * context with a pool of one connection.
 */
class LockAroundTransactionTests {

	/** The transaction manager of the application. */
	enum Manager {

		JDBC, JPA

	}

	private final History history = new History();

	private final MovableClock clock = new MovableClock();

	private ApplicationContextRunner runner(Manager manager) {
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
			.withBean(History.class, () -> this.history)
			.withBean(Inner.class)
			.withBean(Outer.class);
		return (manager == Manager.JPA)
				? runner.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class)) : runner;
	}

	private void run(Scenario test) {
		run(Manager.JDBC, test);
	}

	private void run(Manager manager, Scenario test) {
		runner(manager).run((context) -> {
			assertThat(context).hasNotFailed();
			context.getBean(JdbcClient.class).sql("create table note (text varchar(100))").update();
			Outer outer = context.getBean(Outer.class);
			test.run(context, outer, context.getBean(Inner.class));
			assertThat(context.getBean(LocalLockBackend.class).inUse()).as("locks left").isEmpty();
			assertThat(LockHandle.current()).isEmpty();
		});
	}

	private static List<String> notes(AssertableApplicationContext context) {
		return context.getBean(JdbcClient.class).sql("select text from note order by text").query(String.class).list();
	}

	@ParameterizedTest
	@EnumSource
	void lockSurroundsTheTransactionOfItsMethod(Manager manager) {
		run(manager, (context, outer, inner) -> {
			inner.write("a");
			assertThat(this.history.events).containsExactly("lock", "begin", "commit", "unlock");
			assertThat(notes(context)).containsExactly("a");
		});
	}

	@ParameterizedTest
	@EnumSource
	void lockOutlivesTheRollback(Manager manager) {
		run(manager, (context, outer, inner) -> {
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> inner.fail("a"));
			assertThat(this.history.events).containsExactly("lock", "begin", "rollback", "unlock");
			assertThat(notes(context)).isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource
	void callerInATransactionKeepsTheLockUntilItsEnd(Manager manager) {
		run(manager, (context, outer, inner) -> {
			outer.calling(() -> {
				inner.write("a");
				this.history.events.add("returned");
			});
			assertThat(this.history.events).containsExactly("begin", "lock", "returned", "commit", "unlock");
		});
	}

	@Test
	void callerThatRollsBackKeepsTheLockUntilItsEnd() {
		run((context, outer, inner) -> {
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> outer.calling(() -> {
				inner.write("a");
				throw new IllegalStateException("no");
			}));
			assertThat(this.history.events).containsExactly("begin", "lock", "rollback", "unlock");
		});
	}

	@Test
	void callerThatIsRollbackOnlyKeepsTheLockUntilItsEnd() {
		run((context, outer, inner) -> {
			outer.calling(() -> {
				inner.write("a");
				TransactionAspectSupport.currentTransactionStatus().setRollbackOnly();
			});
			assertThat(this.history.events).containsExactly("begin", "lock", "rollback", "unlock");
			assertThat(notes(context)).isEmpty();
		});
	}

	@Test
	void programmaticLockInATransactionIsKeptUntilItsEnd() {
		run((context, outer, inner) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			new TransactionTemplate(context.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> {
					locks.acquire(LockRequest.of("note")).close();
					this.history.events.add("closed");
				});
			assertThat(this.history.events).containsExactly("begin", "lock", "closed", "commit", "unlock");
		});
	}

	@Test
	void transactionTemplateInsideALockIsSurroundedByIt() {
		run((context, outer, inner) -> {
			LockOperations locks = context.getBean(LockOperations.class);
			TransactionTemplate template = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			locks.execute(LockRequest.of("note"), (handle) -> template.execute((status) -> "done"));
			assertThat(this.history.events).containsExactly("lock", "begin", "commit", "unlock");
		});
	}

	@ParameterizedTest
	@EnumSource
	void innerTransactionOfItsOwnIsSurroundedByTheLock(Manager manager) {
		runner(manager).withPropertyValues("spring.datasource.hikari.maximum-pool-size=2").run((context) -> {
			context.getBean(JdbcClient.class).sql("create table note (text varchar(100))").update();
			Inner inner = context.getBean(Inner.class);
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> context.getBean(Outer.class).callingInSnapshot(() -> {
					inner.writeInNew("a");
					this.history.events.add("returned");
					assertThat(TransactionSynchronizationManager.getCurrentTransactionName())
						.endsWith("Outer.callingInSnapshot");
					throw new IllegalStateException("no");
				}));
			assertThat(this.history.events).containsExactly("begin", "lock", "begin", "commit", "unlock", "returned",
					"rollback");
			assertThat(notes(context)).containsExactly("a");
		});
	}

	@Test
	void outerLockIsKeptWhenAnInnerTransactionReentersIt() {
		runner(Manager.JDBC).withPropertyValues("spring.datasource.hikari.maximum-pool-size=2").run((context) -> {
			context.getBean(JdbcClient.class).sql("create table note (text varchar(100))").update();
			Inner inner = context.getBean(Inner.class);
			context.getBean(Outer.class).calling(() -> {
				inner.write("a");
				inner.writeInNew("b");
				this.history.events.add("returned");
			});
			assertThat(this.history.events).containsExactly("begin", "lock", "begin", "commit", "returned", "commit",
					"unlock");
		});
	}

	@Test
	void outerTransactionContinuesWhenTheInnerOneFails() {
		runner(Manager.JDBC)
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=2",
					"distributed-lock.transaction.when-active=fail")
			.run((context) -> {
				context.getBean(JdbcClient.class).sql("create table note (text varchar(100))").update();
				Inner inner = context.getBean(Inner.class);
				context.getBean(Outer.class)
					.calling(() -> assertThatExceptionOfType(IllegalStateException.class)
						.isThrownBy(() -> inner.writeInNewAndThen("a", () -> {
							throw new IllegalStateException("no");
						})));
				assertThat(this.history.events).containsExactly("begin", "lock", "begin", "rollback", "unlock",
						"commit");
			});
	}

	@Test
	void fallbackRunsInTheTransactionOfTheCaller() {
		run((context, outer, inner) -> {
			LockHandle other = CompletableFuture
				.supplyAsync(() -> context.getBean(LockOperations.class).acquire(LockRequest.of("note")))
				.join();
			outer.calling(() -> assertThat(inner.writeInNewOrGetCaller()).endsWith("Outer.calling"));
			other.close();
		});
	}

	@Test
	void savepointOfANestedCallDoesNotReleaseTheLock() {
		run((context, outer, inner) -> {
			outer.calling(() -> {
				assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> inner.failNested("a"));
			});
			assertThat(this.history.events).containsExactly("begin", "lock", "rollback to savepoint", "commit",
					"unlock");
		});
	}

	@Test
	void lockAcquiredDuringASuspensionIsNotDeferred() {
		run((context, outer, inner) -> {
			outer.calling(() -> {
				outer.withoutTransaction(
						() -> context.getBean(LockOperations.class).acquire(LockRequest.of("note")).close());
				this.history.events.add("resumed");
			});
			assertThat(this.history.events).containsExactly("begin", "lock", "unlock", "resumed", "commit");
		});
	}

	@Test
	void lockIsReleasedAfterACommitOfUnknownOutcome() {
		run((context, outer, inner) -> {
			assertThatExceptionOfType(DataAccessException.class).isThrownBy(() -> outer.calling(() -> {
				inner.write("a");
				TransactionSynchronizationManager.registerSynchronization(this.history.new Status());
				// makes the rest of the commit fail at the database
				closeDatabase(context);
			}));
			assertThat(this.history.events).containsExactly("begin", "lock", "unlock",
					"status " + TransactionSynchronization.STATUS_UNKNOWN);
		});
	}

	private static void closeDatabase(AssertableApplicationContext context) {
		context.getBean(JdbcClient.class).sql("shutdown immediately").update();
	}

	@ParameterizedTest
	@EnumSource
	void lostLockRefusesTheCommitAndNothingIsWritten(Manager manager) {
		run(manager, (context, outer, inner) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> inner.writeAndThen("a", () -> lose()))
				.withMessageContaining("Lock 'note' was lost")
				.withMessageContaining("commit was refused");
			assertThat(notes(context)).isEmpty();
			assertThat(this.history.events).containsExactly("lock", "begin", "rollback", "unlock");
		});
	}

	@Test
	void lostLockRefusesTheCommitOfTheCallersTransaction() {
		run((context, outer, inner) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> outer.calling(() -> {
				inner.write("a");
				lose();
			})).withMessageContaining("commit was refused");
			assertThat(notes(context)).isEmpty();
		});
	}

	@Test
	void lostLockRefusesTheCommitOfAnInnerTransaction() {
		runner(Manager.JDBC).withPropertyValues("spring.datasource.hikari.maximum-pool-size=2").run((context) -> {
			context.getBean(JdbcClient.class).sql("create table note (text varchar(100))").update();
			Inner inner = context.getBean(Inner.class);
			assertThatExceptionOfType(LockLostException.class).isThrownBy(
					() -> context.getBean(Outer.class).calling(() -> inner.writeInNewAndThen("a", () -> lose())));
			assertThat(notes(context)).isEmpty();
		});
	}

	@Test
	void readOnlyTransactionIsNotChecked() {
		run((context, outer, inner) -> assertThatExceptionOfType(LockLostException.class)
			.as("without a commit, the call itself tells")
			.isThrownBy(() -> inner.read(() -> lose()))
			.withMessageContaining("No commit was checked"));
	}

	/**
	 * Moves the store's clock past the lease, and waits until the holder is notified of
	 * the loss.
	 */
	private void lose() {
		LockHandle handle = LockHandle.current().orElseThrow();
		this.clock.nanos += Duration.ofMinutes(1).toNanos();
		CompletableFuture<Boolean> notified = new CompletableFuture<>();
		handle.onLost((event) -> notified.complete(true));
		assertThat(notified.orTimeout(20, TimeUnit.SECONDS).join()).isTrue();
	}

	@Test
	void failRefusesInsideATransaction() {
		runner(Manager.JDBC).withPropertyValues("distributed-lock.transaction.when-active=fail").run((context) -> {
			Inner inner = context.getBean(Inner.class);
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> context.getBean(Outer.class).calling(() -> inner.write("a")))
				.withMessageContaining("Lock 'note' was not acquired")
				.withMessageContaining("already in a transaction")
				.withMessageContaining("Outer.calling")
				.withMessageContaining("'fail'")
				.withMessageContaining("before the transaction starts");
			assertThat(this.history.events).containsExactly("begin", "rollback");
		});
	}

	@Test
	void allowReleasesBeforeTheCommit() {
		runner(Manager.JDBC).withPropertyValues("distributed-lock.transaction.when-active=allow").run((context) -> {
			context.getBean(JdbcClient.class).sql("create table note (text varchar(100))").update();
			Inner inner = context.getBean(Inner.class);
			context.getBean(Outer.class).calling(() -> inner.write("a"));
			assertThat(this.history.events).containsExactly("begin", "lock", "unlock", "commit");
		});
	}

	@ParameterizedTest
	@EnumSource
	void snapshotThatMayBeOlderThanTheLockIsRefused(Manager manager) {
		run(manager, (context, outer, inner) -> {
			assertThatExceptionOfType(LockConfigurationException.class)
				.isThrownBy(() -> outer.callingInSnapshot(() -> inner.write("a")))
				.withMessageContaining("REPEATABLE READ")
				.withMessageContaining("older than the lock");
			assertThat(this.history.events).containsExactly("begin", "rollback");
		});
	}

	@ParameterizedTest
	@EnumSource
	void snapshotThatIsTheDatabasesDefaultIsRefused(Manager manager) {
		runner(manager).withPropertyValues("spring.datasource.hikari.transaction-isolation=TRANSACTION_SERIALIZABLE")
			.run((context) -> {
				Inner inner = context.getBean(Inner.class);
				for (int i = 0; i < 2; i++) {
					assertThatExceptionOfType(LockConfigurationException.class)
						.isThrownBy(() -> context.getBean(Outer.class).calling(() -> inner.write("a")))
						.withMessageContaining("SERIALIZABLE");
				}
			});
	}

	@Test
	void snapshotThatIsNewerThanTheLockIsAccepted() {
		run((context, outer, inner) -> {
			context.getBean(LockOperations.class).execute(LockRequest.of("note"), (handle) -> {
				outer.callingInSnapshot(() -> inner.write("a"));
				return null;
			});
			assertThat(this.history.events).containsExactly("lock", "begin", "commit", "unlock");
		});
	}

	@ParameterizedTest
	@EnumSource(OwnOrder.class)
	void usersOwnOrderOfTransactionsDoesNotPutTheLockInside(OwnOrder order) {
		runner(Manager.JDBC).withUserConfiguration(order.configuration).run((context) -> {
			context.getBean(JdbcClient.class).sql("create table note (text varchar(100))").update();
			context.getBean(Inner.class).write("a");
			assertThat(this.history.events).containsExactly("lock", "begin", "commit", "unlock");
		});
	}

	@Test
	void everyTransactionManagerOfTheUserIsChecked() {
		runner(Manager.JDBC).withBean("own", PlatformTransactionManager.class, OwnManager::new).run((context) -> {
			OwnManager own = context.getBean(OwnManager.class);
			assertThat(own.getTransactionExecutionListeners()).hasAtLeastOneElementOfType(LockCommitListener.class);
		});
	}

	@FunctionalInterface
	interface Scenario {

		void run(AssertableApplicationContext context, Outer outer, Inner inner);

	}

	/**
	 * Records events in order: locks as the engine reports them, transactions as the
	 * connection does.
	 */
	static final class History implements LockObserver, BeanPostProcessor {

		final List<String> events = Collections.synchronizedList(new ArrayList<>());

		@Override
		public void acquired(LockName lock, String backend, AcquireOutcome outcome, Duration waited, Duration lease) {
			this.events.add("lock");
		}

		@Override
		public void released(LockName lock, String backend, Duration held, Duration lease) {
			this.events.add("unlock");
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof DataSource dataSource) ? new RecordingDataSource(dataSource) : bean;
		}

		private final class RecordingDataSource extends DelegatingDataSource {

			RecordingDataSource(DataSource target) {
				super(target);
			}

			@Override
			public Connection getConnection() throws SQLException {
				Connection connection = super.getConnection();
				return (Connection) Proxy.newProxyInstance(getClass().getClassLoader(),
						new Class<?>[] { Connection.class }, (proxy, method, arguments) -> {
							Object result;
							try {
								result = method.invoke(connection, arguments);
							}
							catch (InvocationTargetException ex) {
								throw ex.getTargetException();
							}
							record(method.getName(), arguments);
							return result;
						});
			}

			private void record(String method, Object[] arguments) {
				if (method.equals("setAutoCommit") && Boolean.FALSE.equals(arguments[0])) {
					History.this.events.add("begin");
				}
				else if (method.equals("commit") || method.equals("rollback")) {
					History.this.events.add((arguments != null) ? "rollback to savepoint" : method);
				}
			}

		}

		final class Status implements TransactionSynchronization {

			@Override
			public void afterCompletion(int status) {
				History.this.events.add("status " + status);
			}

		}

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

	enum OwnOrder {

		FIRST(First.class), LAST(Last.class);

		private final Class<?> configuration;

		OwnOrder(Class<?> configuration) {
			this.configuration = configuration;
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = Integer.MIN_VALUE)
	static class First {

	}

	@Configuration(proxyBeanMethods = false)
	@EnableTransactionManagement(order = Integer.MAX_VALUE)
	static class Last {

	}

	@SuppressWarnings("serial")
	static final class OwnManager extends AbstractPlatformTransactionManager {

		@Override
		protected Object doGetTransaction() {
			throw new IllegalTransactionStateException("not used");
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
			throw new IllegalTransactionStateException("not used");
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			throw new IllegalTransactionStateException("not used");
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
			throw new IllegalTransactionStateException("not used");
		}

	}

}
