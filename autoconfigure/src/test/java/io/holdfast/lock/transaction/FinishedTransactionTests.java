package io.holdfast.lock.transaction;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.support.FinishedTransaction;
import io.holdfast.lock.transaction.ArticleApplication.Scenario;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for locks in the callbacks of a transaction that has read entities.
 */
class FinishedTransactionTests {

	/** The callback, and whether the persistence context belongs to the request. */
	enum Callback {

		AFTER_COMMIT, AFTER_COMPLETION, AFTER_COMPLETION_IN_OPEN_VIEW;

		private void run(ArticleApplication application, Runnable action) {
			Runnable request = () -> application.caller().readAndCall(() -> register(action));
			if (this == AFTER_COMPLETION_IN_OPEN_VIEW) {
				application.inOpenView(request);
			}
			else {
				request.run();
			}
		}

		private void register(Runnable action) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					if (Callback.this == AFTER_COMMIT) {
						action.run();
					}
				}

				@Override
				public void afterCompletion(int status) {
					if (Callback.this != AFTER_COMMIT) {
						action.run();
					}
				}

			});
		}

	}

	private static void run(Callback callback, Scenario scenario) {
		List<Throwable> thrown = new ArrayList<>();
		ArticleApplication.run((application) -> {
			callback.run(application, () -> {
				try {
					scenario.run(application);
				}
				catch (Throwable ex) {
					// Spring only logs it
					thrown.add(ex);
				}
			});
			assertThat(thrown).isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource
	void lockedMethodReadsWhatOthersHaveWritten(Callback callback) {
		run(callback, (application) -> {
			application.changeElsewhere();
			assertThat(application.stock().amount()).isEqualTo(99);
			application.changeElsewhere();
			assertThat(application.stock().amount()).as("the next listener").isEqualTo(98);
			application.changeElsewhere();
			assertThat(application.locks()
				.<Integer, RuntimeException>execute(LockRequest.of("stock"), (handle) -> application.find().amount))
				.as("code")
				.isEqualTo(97);
		});
	}

	@ParameterizedTest
	@EnumSource
	void lockedTransactionCommitsBeforeItsLockIsReleased(Callback callback) {
		run(callback, (application) -> {
			application.stock().sell();
			assertThat(application.readElsewhere()).isEqualTo(99);
			application.stock().sellInNew();
			assertThat(application.readElsewhere()).isEqualTo(98);
		});
	}

	/** Spring does not tell its listeners that such a transaction has ended. */
	@Test
	void failureBeforeTheCommitDoesNotBreakTheNextCallOfTheThread() {
		ArticleApplication.run((application) -> {
			application.inOpenView(() -> assertThatExceptionOfType(CannotCreateTransactionException.class)
				.isThrownBy(() -> application.caller()
					.readAndCall(() -> TransactionSynchronizationManager
						.registerSynchronization(new TransactionSynchronization() {

							@Override
							public void beforeCommit(boolean readOnly) {
								throw new CannotCreateTransactionException("no connection");
							}

						}))));
			assertThat(FinishedTransaction.resources()).isEmpty();
			assertThat(application.stock().amount()).isEqualTo(100);
		});
	}

	@ParameterizedTest
	@EnumSource
	void entitiesOfTheFinishedTransactionStayAttached(Callback callback) {
		run(callback, (application) -> {
			Article seen = application.find();
			assertThat(application.stock().find()).isNotSameAs(seen);
			assertThat(application.find()).isSameAs(seen);
			assertThat(seen.tags).as("a lazy collection").isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource
	void handleFromCodeIsRefusedBecauseOldEntitiesWouldBeServed(Callback callback) {
		run(callback,
				(application) -> assertThatExceptionOfType(LockConfigurationException.class)
					.isThrownBy(() -> application.locks().acquire(LockRequest.of("stock")))
					.withMessageStartingWith("Lock 'stock' was not acquired: ")
					.withMessageContaining("has completed")
					.withMessageContaining("1 entity of [io.holdfast.lock.transaction.Article]")
					.withMessageContaining("@DistributedLock"));
	}

}
