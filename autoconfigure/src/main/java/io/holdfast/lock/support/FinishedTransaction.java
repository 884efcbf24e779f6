package io.holdfast.lock.support;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Detects whether the current transaction is over although Spring still reports it as
 * active. That is the case while its callbacks after the commit or the rollback run, such
 * as those of {@code @TransactionalEventListener}. Work done there does not belong to the
 * transaction. Requires spring-tx.
 */
public final class FinishedTransaction {

	private FinishedTransaction() {
	}

	/**
	 * Marks the current transaction as finished once it commits. Call this immediately
	 * before the commit.
	 */
	public static void finishAtCommit() {
		if (TransactionSynchronizationManager.isSynchronizationActive()
				&& !TransactionSynchronizationManager.getSynchronizations().isEmpty()) {
			TransactionSynchronizationManager.registerSynchronization(new Mark());
		}
	}

	/**
	 * Returns whether the current transaction is over.
	 * @return whether its outcome is decided and its callbacks run; {@code false} if
	 * there is no transaction
	 */
	public static boolean isCurrent() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			return false;
		}
		// from the first callback after completion on, no callback can be registered
		return !TransactionSynchronizationManager.isSynchronizationActive()
				|| TransactionSynchronizationManager.getSynchronizations()
					.stream()
					.anyMatch((callback) -> callback instanceof Mark mark && mark.committed);
	}

	/**
	 * Returns whether a transaction that is over still has connections or contexts on
	 * this thread. Spring may no longer report it as active: a callback that begins a
	 * transaction of its own ends that report.
	 * @return whether code that joins it would work on its resources
	 */
	public static boolean isOnThread() {
		boolean over = TransactionSynchronizationManager.isActualTransactionActive() ? isCurrent()
				: !TransactionSynchronizationManager.isSynchronizationActive();
		return over && TransactionSynchronizationManager.getResourceMap()
			.values()
			.stream()
			.anyMatch(FinishedTransaction::isTransactional);
	}

	/**
	 * Returns whether a resource of the thread belongs to a transaction.
	 * @param resource the resource
	 * @return whether its transaction unbinds it
	 */
	public static boolean isTransactional(@Nullable Object resource) {
		return resource instanceof ResourceHolderSupport holder && holder.isSynchronizedWithTransaction();
	}

	/** The first of the callbacks after a commit. */
	private static final class Mark implements TransactionSynchronization {

		private boolean committed;

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void afterCommit() {
			this.committed = true;
		}

	}

}
