package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

import org.awaitility.Awaitility;
import javax.sql.DataSource;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.support.FinishedTransaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for a handle that is closed while a transaction is open that was active under its
 * lock, suspended or not.
 */
class DeferredReleaseTests {

	/** The way a handle is closed while a transaction is open. */
	enum Close {

		IN_THE_TRANSACTION, IN_AN_INNER_ONE, IN_AN_INNER_ONE_THAT_ROLLS_BACK, IN_A_SAVEPOINT, WHILE_SUSPENDED,
		BY_ANOTHER_THREAD

	}

	private static final LockRequest STOCK = LockRequest.of("stock");

	private final LocalLockBackend store = new LocalLockBackend();

	private LockOperations locks;

	private DataSource dataSource;

	private TransactionOperations required;

	private TransactionOperations requiresNew;

	private TransactionOperations nested;

	private TransactionOperations notSupported;

	private void run(Runnable test) {
		run("hold", test);
	}

	private void run(String whenActive, Runnable test) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LockTransactionAutoConfiguration.class, TransactionAutoConfiguration.class,
					DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class))
			.withBean(LocalLockBackend.class, () -> this.store)
			.withPropertyValues("distributed-lock.backend=local", "spring.datasource.generate-unique-name=true",
					"distributed-lock.transaction.when-active=" + whenActive)
			.run((context) -> {
				this.locks = context.getBean(LockOperations.class);
				this.dataSource = context.getBean(DataSource.class);
				PlatformTransactionManager manager = context.getBean(PlatformTransactionManager.class);
				this.required = with(manager, TransactionDefinition.PROPAGATION_REQUIRED);
				this.requiresNew = with(manager, TransactionDefinition.PROPAGATION_REQUIRES_NEW);
				this.nested = with(manager, TransactionDefinition.PROPAGATION_NESTED);
				this.notSupported = with(manager, TransactionDefinition.PROPAGATION_NOT_SUPPORTED);
				test.run();
				assertFree();
				assertThat(LockContext.handles()).isEmpty();
			});
	}

	private static TransactionOperations with(PlatformTransactionManager manager, int propagation) {
		TransactionTemplate template = new TransactionTemplate(manager);
		template.setPropagationBehavior(propagation);
		return template;
	}

	private LockHandle acquire() {
		return this.locks.acquire(STOCK);
	}

	private void assertHeld() {
		assertThat(this.store.inUse()).hasSize(1);
	}

	private void assertFree() {
		assertThat(this.store.inUse()).isEmpty();
	}

	/** Both transactions have their own connection, and both are on the thread. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void lockIsKeptForAnOuterTransactionOfAnotherManager(boolean innerCommits) {
		JdbcTransactionManager other = new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:of-other"));
		TransactionOperations ofOther = new TransactionTemplate(other);
		run(() -> {
			this.required.executeWithoutResult((outer) -> {
				ofOther.executeWithoutResult((inner) -> {
					acquire().close();
					if (!innerCommits) {
						inner.setRollbackOnly();
					}
				});
				assertHeld();
				ofOther.executeWithoutResult((inner) -> {
				});
				assertHeld();
			});
			assertFree();
			other.setTransactionExecutionListeners(
					((JdbcTransactionManager) ((TransactionTemplate) this.required).getTransactionManager())
						.getTransactionExecutionListeners());
			ofOther.executeWithoutResult((outer) -> {
				this.required.executeWithoutResult((inner) -> acquire().close());
				assertHeld();
			});
		});
	}

	@Test
	void lockOfACallbackIsKeptForAnOuterTransactionOfAnotherManager() {
		TransactionOperations ofOther = new TransactionTemplate(
				new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:of-another")));
		run(() -> {
			this.required.executeWithoutResult((outer) -> {
				ofOther.executeWithoutResult((inner) -> TransactionSynchronizationManager
					.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCommit() {
							acquire().close();
						}

					}));
				assertHeld();
			});
			assertFree();
		});
	}

	/** As the managers of message brokers, which run no callbacks. */
	@Test
	void transactionInProgressIsJoinedInsideOneWithoutCallbacks() {
		JdbcTransactionManager silent = new JdbcTransactionManager(
				new DriverManagerDataSource("jdbc:h2:mem:of-silent"));
		silent.setTransactionSynchronization(AbstractPlatformTransactionManager.SYNCHRONIZATION_NEVER);
		TransactionOperations ofSilent = new TransactionTemplate(silent);
		run(() -> this.required.executeWithoutResult((outer) -> {
			Object connection = bound();
			ofSilent.executeWithoutResult((inner) -> this.locks.execute(STOCK, (handle) -> {
				assertThat(bound()).isSameAs(connection);
				return null;
			}));
		}));
	}

	@Test
	void savepointsLeaveNothingOnTheThread() {
		run(() -> {
			this.required.executeWithoutResult((outer) -> {
				for (int i = 0; i < 3; i++) {
					this.nested.executeWithoutResult((inner) -> {
					});
				}
			});
			assertThat(FinishedTransaction.resources()).isEmpty();
		});
	}

	private Object bound() {
		return TransactionSynchronizationManager.getResource(this.dataSource);
	}

	@Test
	void lockOfATransactionThatSuspendsAnotherIsReleasedAtItsEnd() {
		run(() -> this.required.executeWithoutResult((outer) -> {
			this.requiresNew.executeWithoutResult((inner) -> acquire().close());
			assertFree();
		}));
	}

	private void close(LockHandle handle, Close how) {
		switch (how) {
			case IN_THE_TRANSACTION -> handle.close();
			case IN_AN_INNER_ONE -> this.requiresNew.executeWithoutResult((inner) -> handle.close());
			case IN_AN_INNER_ONE_THAT_ROLLS_BACK -> this.requiresNew.executeWithoutResult((inner) -> {
				handle.close();
				inner.setRollbackOnly();
			});
			case IN_A_SAVEPOINT -> this.nested.executeWithoutResult((inner) -> {
				handle.close();
				inner.setRollbackOnly();
			});
			case WHILE_SUSPENDED -> this.notSupported.executeWithoutResult((none) -> handle.close());
			case BY_ANOTHER_THREAD -> CompletableFuture.runAsync(handle::close).join();
		}
	}

	@ParameterizedTest
	@EnumSource
	void lockOfATransactionIsHeldUntilItsEnd(Close how) {
		run(() -> {
			this.required.executeWithoutResult((status) -> {
				close(acquire(), how);
				assertHeld();
			});
			assertFree();
		});
	}

	@ParameterizedTest
	@EnumSource
	void lockFromBeforeATransactionIsHeldUntilItsEnd(Close how) {
		run(() -> {
			LockHandle handle = acquire();
			this.required.executeWithoutResult((status) -> {
				close(handle, how);
				assertHeld();
				status.setRollbackOnly();
			});
			assertFree();
		});
	}

	@ParameterizedTest
	@EnumSource
	void lockThatIsCarriedToASuspendedTransactionIsHeldUntilItsEnd(Close how) {
		run(() -> {
			List<LockHandle> carried = new ArrayList<>();
			this.required.executeWithoutResult((status) -> {
				this.requiresNew.executeWithoutResult((inner) -> carried.add(acquire()));
				close(carried.get(0), how);
				assertHeld();
			});
			assertFree();
		});
	}

	@Test
	void lockReleasedInTheInnerTransactionIgnoresTheSuspendedOne() {
		run(() -> this.required.executeWithoutResult((status) -> {
			this.requiresNew.executeWithoutResult((inner) -> {
				acquire().close();
				assertHeld();
			});
			assertFree();
			this.notSupported.executeWithoutResult((none) -> acquire().close());
			assertFree();
		}));
	}

	@Test
	void lockOutlivesItsTransactionsUntilItsHandleIsClosed() {
		run(() -> {
			LockHandle handle = this.required.execute((status) -> acquire());
			this.required.executeWithoutResult((status) -> assertHeld());
			assertHeld();
			handle.close();
			assertFree();
		});
	}

	@Test
	void reenteredLockIsHeldUntilTheLastTransactionEnds() {
		run(() -> {
			this.required.executeWithoutResult((status) -> {
				acquire().close();
				this.requiresNew.executeWithoutResult((inner) -> acquire().close());
				assertHeld();
			});
			assertFree();
		});
	}

	@Test
	void lockOfACallbackAfterTheCommitIsNotDeferred() {
		run(() -> this.required.executeWithoutResult((status) -> after((phase) -> {
			LockHandle handle = acquire();
			this.requiresNew.executeWithoutResult((inner) -> assertHeld());
			handle.close();
			assertThat(this.store.inUse()).as(phase).isEmpty();
		})));
	}

	private static void after(Consumer<String> action) {
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

			@Override
			public void afterCommit() {
				action.accept("after the commit");
			}

			@Override
			public void afterCompletion(int status) {
				action.accept("after completion");
			}

		});
	}

	@Test
	void lockOfNoThreadIsHeldUntilItsClosingTransactionEnds() {
		run(() -> {
			LockHandle handle = join(this.locks.acquireAsync(STOCK));
			this.required.executeWithoutResult((status) -> {
				handle.close();
				assertHeld();
			});
			assertFree();
		});
	}

	@Test
	void stageThatCompletesInATransactionIsLockedUntilItsEnd() {
		run(() -> {
			CompletableFuture<String> body = new CompletableFuture<>();
			CompletionStage<String> result = this.locks.executeAsync(STOCK, (handle) -> body);
			Awaitility.await("the release waits for the body").until(() -> body.getNumberOfDependents() > 0);
			this.required.executeWithoutResult((status) -> {
				body.complete("done");
				assertHeld();
			});
			assertThat(join(result)).isEqualTo("done");
			assertFree();
		});
	}

	@ParameterizedTest
	@ValueSource(strings = { "hold", "fail" })
	void asynchronousAcquisitionInATransactionIsRefused(String whenActive) {
		run(whenActive, () -> this.required.executeWithoutResult((status) -> {
			assertRefused(this.locks.acquireAsync(STOCK));
			assertRefused(this.locks.tryAcquireAsync(STOCK));
			assertRefused(this.locks.executeAsync(STOCK, CompletableFuture::completedFuture));
			this.notSupported.executeWithoutResult((none) -> join(this.locks.acquireAsync(STOCK)).close());
			after((phase) -> join(this.locks.acquireAsync(STOCK)).close());
		}));
	}

	@Test
	void asynchronousAcquisitionInATransactionIsAllowedOnRequest() {
		run("allow",
				() -> this.required.executeWithoutResult((status) -> join(this.locks.acquireAsync(STOCK)).close()));
	}

	private void assertRefused(CompletionStage<?> acquisition) {
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> join(acquisition))
			.havingCause()
			.isInstanceOf(LockConfigurationException.class)
			.withMessageContainingAll("Lock 'stock' was not acquired", "already in a transaction", "asynchronous",
					"before the transaction starts");
		assertFree();
	}

	private static <T> T join(CompletionStage<T> stage) {
		return stage.toCompletableFuture().join();
	}

	@Test
	void allowDefersNothing() {
		run("allow", () -> this.required.executeWithoutResult((status) -> {
			LockHandle handle = acquire();
			this.requiresNew.executeWithoutResult((inner) -> {
				handle.close();
				assertFree();
			});
		}));
	}

}
