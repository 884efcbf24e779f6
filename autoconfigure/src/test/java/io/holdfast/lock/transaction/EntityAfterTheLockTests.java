package io.holdfast.lock.transaction;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.test.server.MariaDbServer;

import static io.holdfast.lock.transaction.ArticleApplication.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatException;

/**
 * Tests that an entity is not written with old values after a lock under which its row
 * may have changed: neither one of the suspended transaction of the caller nor one that
 * the request has read under the lock.
 */
class EntityAfterTheLockTests {

	@AutoClose
	private static final MariaDbServer mariaDb = MariaDbServer.started();

	private static void assertRenamed(ArticleApplication application, int amount) {
		Article stored = application.caller().readOnly();
		assertThat(stored.name).isEqualTo("renamed");
		assertThat(stored.amount).isEqualTo(amount);
	}

	@Test
	@DisplayName("An entity of the suspended caller does not overwrite the writes of the locked transaction")
	void entityOfTheSuspendedCallerKeepsTheWritesUnderTheLock() {
		run((application) -> {
			application.caller().readCallAndRename(application.stock()::sellInNew);
			assertRenamed(application, 99);
		});
	}

	@Test
	void entityOfTheSuspendedCallerDoesNotOverwriteTheWritesOfOthers() {
		run((application) -> {
			assertRefused(() -> application.caller()
				.readCallAndRename(() -> application.stock().inNew(application::changeElsewhere)));
			assertThat(application.readElsewhere()).isEqualTo(99);
		});
	}

	@Test
	void lockInsideATransactionThatSuspendsTheCallersIsTheSame() {
		run((application) -> {
			TransactionTemplate inner = new TransactionTemplate(application.transactions().getTransactionManager());
			inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
			application.caller()
				.readCallAndRename(() -> inner
					.executeWithoutResult((status) -> application.locks().execute(LockRequest.of("stock"), (handle) -> {
						application.find().sell();
						return null;
					})));
			assertRenamed(application, 99);
		});
	}

	@Test
	@DisplayName("An entity that was read under the lock does not overwrite the writes of others after it")
	void entityReadUnderTheLockDoesNotOverwriteLaterWrites() {
		run((application) -> application.inOpenView(() -> {
			application.stock().sell();
			application.changeElsewhere();
			assertRefused(application.caller()::rename);
			assertThat(application.readElsewhere()).isEqualTo(98);
		}));
	}

	/** Reads from a snapshot that is older than the lock. */
	@Test
	void entityOfASuspendedCallerWithASnapshotKeepsTheWritesToo() {
		run(ArticleApplication.runner()
			.withPropertyValues("spring.datasource.url=" + mariaDb.jdbcUrl(),
					"spring.datasource.username=" + MariaDbServer.USERNAME,
					"spring.datasource.password=" + MariaDbServer.PASSWORD),
				(application) -> {
					assertRefused(() -> application.caller()
						.readCallAndRename(() -> application.stock().inNew(application::changeElsewhere)));
					application.caller().readCallAndRename(application.stock()::sellInNew);
					assertRenamed(application, 98);
				});
	}

	@Test
	void entityOfTheRequestKeepsTheWritesOfAListenerAfterTheCommit() {
		run((application) -> {
			application.inOpenView(() -> {
				application.caller()
					.readAndCall(() -> TransactionSynchronizationManager
						.registerSynchronization(new TransactionSynchronization() {

							@Override
							public void afterCompletion(int status) {
								application.stock().sell();
							}

						}));
				application.caller().rename();
			});
			assertRenamed(application, 99);
		});
	}

	@Test
	void entityReadUnderALockInsideATransactionIsCheckedAfterIt() {
		run((application) -> application.inOpenView(() -> {
			application.transactions().executeWithoutResult((status) -> application.stock().sell());
			application.changeElsewhere();
			assertRefused(application.caller()::rename);
			assertThat(application.readElsewhere()).isEqualTo(98);
		}));
	}

	@Test
	void entityReadUnderTheLockIsWrittenAfterItIfItsRowIsUnchanged() {
		run((application) -> {
			application.inOpenView(() -> {
				application.stock().sell();
				application.caller().rename();
				application.stock().sell();
			});
			assertRenamed(application, 98);
		});
	}

	private static void assertRefused(Runnable call) {
		assertThatException().isThrownBy(call::run)
			.havingRootCause()
			.isInstanceOf(LockConfigurationException.class)
			.withMessageStartingWith("Lock 'stock': io.holdfast.lock.transaction.Article#1 was read or written before")
			.withMessageContaining("its row has changed since (amount)");
	}

}
