package io.holdfast.lock.support;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Whether the current transaction is over though Spring still calls it active: while its
 * callbacks after the commit or the rollback run, such as those of
 * {@code @TransactionalEventListener}. Nothing that happens there belongs to it. Needs
 * spring-tx.
 */
public final class FinishedTransaction {

	private FinishedTransaction() {
	}

	/**
	 * Have the current transaction seen as finished from its commit on; to be called
	 * right before that.
	 */
	public static void finishAtCommit() {
		if (TransactionSynchronizationManager.isSynchronizationActive()
				&& !TransactionSynchronizationManager.getSynchronizations().isEmpty()) {
			TransactionSynchronizationManager.registerSynchronization(new Mark());
		}
	}

	/**
	 * Whether the current transaction is over.
	 * @return whether its outcome is decided and its callbacks run; {@code false} if
	 * there is none
	 */
	public static boolean isCurrent() {
		if (!TransactionSynchronizationManager.isActualTransactionActive()) {
			return false;
		}
		// none can be registered any more from the first callback after completion on
		return !TransactionSynchronizationManager.isSynchronizationActive()
				|| TransactionSynchronizationManager.getSynchronizations()
					.stream()
					.anyMatch((callback) -> callback instanceof Mark mark && mark.committed);
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
