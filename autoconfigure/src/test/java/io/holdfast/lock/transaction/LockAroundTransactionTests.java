package io.holdfast.lock.transaction;

import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.IllegalTransactionStateException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.interceptor.TransactionAspectSupport;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests when a lock is acquired and released around a transaction, in a real application
 * context with a pool of one connection.
 */
class LockAroundTransactionTests extends NoteApplication {

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
