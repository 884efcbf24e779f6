package io.holdfast.verification;

import java.util.Collection;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.holdfast.lock.transaction.LockCommitListener;

/**
 * Breaks the transactions of an application: they commit without a check of their locks.
 */
@Configuration(proxyBeanMethods = false)
class UncheckedCommits {

	@Bean
	static ApplicationListener<ApplicationReadyEvent> commitCheckRemover() {
		// all listeners have been added by now
		return (ready) -> ready.getApplicationContext()
			.getBeansOfType(ConfigurableTransactionManager.class)
			.values()
			.forEach((manager) -> manager
				.setTransactionExecutionListeners(withoutChecks(manager.getTransactionExecutionListeners())));
	}

	private static List<TransactionExecutionListener> withoutChecks(
			Collection<TransactionExecutionListener> listeners) {
		return listeners.stream()
			.map((listener) -> (listener instanceof LockCommitListener) ? new WithoutCheck(listener) : listener)
			.toList();
	}

	/**
	 * A listener that does not check commits while the mutation is active.
	 *
	 * @param actual the actual listener
	 */
	private record WithoutCheck(TransactionExecutionListener actual) implements TransactionExecutionListener {

		@Override
		public void beforeBegin(TransactionExecution transaction) {
			this.actual.beforeBegin(transaction);
		}

		@Override
		public void afterBegin(TransactionExecution transaction, @Nullable Throwable failure) {
			this.actual.afterBegin(transaction, failure);
		}

		@Override
		public void beforeCommit(TransactionExecution transaction) {
			if (!Mutation.NO_COMMIT_CHECK.isActive()) {
				this.actual.beforeCommit(transaction);
			}
		}

		@Override
		public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
			this.actual.afterCommit(transaction, failure);
		}

		@Override
		public void beforeRollback(TransactionExecution transaction) {
			this.actual.beforeRollback(transaction);
		}

		@Override
		public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
			this.actual.afterRollback(transaction, failure);
		}

	}

}
