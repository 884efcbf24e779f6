package io.holdfast.lock.transaction;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import javax.sql.DataSource;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockOperations;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.autoconfigure.DistributedLockAutoConfiguration;
import io.holdfast.lock.autoconfigure.LockTransactionAutoConfiguration;
import io.holdfast.lock.backend.local.LocalLockBackend;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for locks in a transaction of one manager that runs in a callback of a finished
 * transaction of another one, whose connection is still on the thread.
 */
class TransactionInCallbackTests {

	private static final LockRequest STOCK = LockRequest.of("stock");

	private final LocalLockBackend store = new LocalLockBackend();

	private LockOperations locks;

	private JdbcTemplate jdbc;

	private TransactionTemplate finished;

	private TransactionTemplate inProgress;

	/** How the lock is acquired. */
	enum Acquisition {

		METHOD, HANDLE;

		private void run(LockOperations locks, Runnable body) {
			if (this == METHOD) {
				locks.execute(STOCK, (handle) -> {
					body.run();
					return null;
				});
			}
			else {
				try (LockHandle handle = locks.acquire(STOCK)) {
					body.run();
				}
			}
		}

	}

	private void run(Consumer<DataSource> inCallback) {
		new ApplicationContextRunner()
			.withConfiguration(AutoConfigurations.of(DistributedLockAutoConfiguration.class,
					LockTransactionAutoConfiguration.class, TransactionAutoConfiguration.class,
					DataSourceAutoConfiguration.class, DataSourceTransactionManagerAutoConfiguration.class,
					JdbcTemplateAutoConfiguration.class))
			.withBean(LocalLockBackend.class, () -> this.store)
			.withBean("other", JdbcTransactionManager.class,
					() -> new JdbcTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:of-a-callback")),
					(definition) -> ((AbstractBeanDefinition) definition).setDefaultCandidate(false))
			.withPropertyValues("distributed-lock.backend=local", "spring.datasource.generate-unique-name=true")
			.run((context) -> {
				this.locks = context.getBean(LockOperations.class);
				this.jdbc = context.getBean(JdbcTemplate.class);
				this.jdbc.execute("CREATE TABLE sold (text VARCHAR(100))");
				this.finished = new TransactionTemplate(
						context.getBean("transactionManager", PlatformTransactionManager.class));
				this.inProgress = new TransactionTemplate(context.getBean("other", PlatformTransactionManager.class));
				DataSource dataSource = context.getBean(DataSource.class);
				CompletableFuture<Void> ran = new CompletableFuture<>();
				this.finished.executeWithoutResult((status) -> TransactionSynchronizationManager
					.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void afterCompletion(int outcome) {
							complete(ran, () -> inCallback.accept(dataSource));
						}

					}));
				ran.get();
				assertThat(this.store.inUse()).isEmpty();
				assertThat(TransactionSynchronizationManager.getResourceMap()).isEmpty();
			});
	}

	/** Spring only logs what a callback throws. */
	private static void complete(CompletableFuture<Void> ran, Runnable action) {
		try {
			action.run();
			ran.complete(null);
		}
		catch (Throwable ex) {
			ran.completeExceptionally(ex);
		}
	}

	private List<String> soldForOthers() {
		return CompletableFuture
			.supplyAsync(() -> this.jdbc.queryForList("SELECT text FROM sold ORDER BY text", String.class))
			.join();
	}

	private void sell(String text) {
		this.finished.executeWithoutResult((status) -> this.jdbc.update("INSERT INTO sold VALUES (?)", text));
	}

	@ParameterizedTest
	@EnumSource
	void writesAreCommittedUnderTheLockAndNotInTheFinishedTransaction(Acquisition acquisition) {
		run((dataSource) -> {
			this.inProgress.executeWithoutResult((status) -> acquisition.run(this.locks, () -> {
				sell("first");
				assertThat(soldForOthers()).containsExactly("first");
			}));
			assertThat(this.store.inUse()).isEmpty();
			this.locks.execute(STOCK, (handle) -> {
				sell("second");
				return null;
			});
			assertThat(soldForOthers()).containsExactly("first", "second");
		});
	}

	@ParameterizedTest
	@EnumSource
	void finishedTransactionIsBackAfterTheOtherOne(Acquisition acquisition) {
		run((dataSource) -> {
			Object connection = TransactionSynchronizationManager.getResource(dataSource);
			assertThat(connection).isNotNull();
			this.inProgress.executeWithoutResult((status) -> {
				acquisition.run(this.locks, () -> this.jdbc.update("INSERT INTO sold VALUES ('no transaction')"));
				assertThat(soldForOthers()).containsExactly("no transaction");
				assertThat(TransactionSynchronizationManager.getResource(dataSource)).isNotSameAs(connection);
				status.setRollbackOnly();
			});
			assertThat(TransactionSynchronizationManager.getResource(dataSource)).isSameAs(connection);
		});
	}

}
