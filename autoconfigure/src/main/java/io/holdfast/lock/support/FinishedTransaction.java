package io.holdfast.lock.support;

import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Detects whether the current transaction is over although Spring still reports it as
 * active. That is the case while its callbacks after the commit or the rollback run, such
 * as those of {@code @TransactionalEventListener}. Work done there does not belong to the
 * transaction, not even that of a {@code @Transactional} method that joins it. Requires
 * spring-tx.
 */
public final class FinishedTransaction {

	/** The transactions of this thread whose callbacks run, if there are any. */
	private static final ThreadLocal<@Nullable List<Over>> OVER = new ThreadLocal<>();

	private FinishedTransaction() {
	}

	/**
	 * Notes that a transaction has begun on this thread. Call this for each transaction.
	 * @param transaction the transaction
	 */
	public static void begun(TransactionExecution transaction) {
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.registerSynchronization(new Mark(transaction));
		}
	}

	/**
	 * Returns whether it was noted that the current transaction has begun.
	 * @return {@code false} for a transaction of a manager without our listener
	 */
	public static boolean hasBegun() {
		return TransactionSynchronizationManager.isSynchronizationActive() && mark() != null;
	}

	/**
	 * Notes that the callbacks of a transaction of this thread have run. Call this for
	 * each transaction that has begun.
	 * @param transaction the transaction
	 */
	public static void ended(TransactionExecution transaction) {
		List<Over> others = over().stream().filter((over) -> over.transaction() != transaction).toList();
		if (others.isEmpty()) {
			OVER.remove();
		}
		else {
			OVER.set(others);
		}
	}

	private static List<Over> over() {
		List<Over> over = OVER.get();
		return (over != null) ? over : List.of();
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
		if (!TransactionSynchronizationManager.isSynchronizationActive()) {
			// from the first callback after completion on, no callback can be registered
			return true;
		}
		Mark mark = mark();
		return (mark != null) ? mark.over : isAnyOver(resources());
	}

	/**
	 * Returns whether a transaction that is over still has connections or contexts on
	 * this thread. Spring may no longer report it as active: a callback that begins a
	 * transaction of its own ends that report.
	 * @return whether code that joins it would work on its resources
	 */
	public static boolean isOnThread() {
		Collection<Object> resources = resources();
		if (resources.isEmpty()) {
			return false;
		}
		boolean over = TransactionSynchronizationManager.isActualTransactionActive() ? isCurrent()
				: !TransactionSynchronizationManager.isSynchronizationActive();
		return over && resources.stream().anyMatch(FinishedTransaction::isTransactional);
	}

	/**
	 * Returns whether a resource of the thread belongs to a transaction.
	 * @param resource the resource
	 * @return whether its transaction unbinds it
	 */
	public static boolean isTransactional(@Nullable Object resource) {
		return resource instanceof ResourceHolderSupport holder && holder.isSynchronizedWithTransaction();
	}

	private static Collection<Object> resources() {
		return TransactionSynchronizationManager.getResourceMap().values();
	}

	private static boolean isAnyOver(Collection<Object> resources) {
		return over().stream().anyMatch((over) -> over.hasAny(resources));
	}

	private static @Nullable Mark mark() {
		for (TransactionSynchronization callback : TransactionSynchronizationManager.getSynchronizations()) {
			if (callback instanceof Mark mark) {
				return mark;
			}
		}
		return null;
	}

	/** The first of the callbacks of a transaction that has begun. */
	private static final class Mark implements TransactionSynchronization {

		private final TransactionExecution transaction;

		private boolean over;

		Mark(TransactionExecution transaction) {
			this.transaction = transaction;
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void afterCommit() {
			if (!this.over) {
				this.over = true;
				OVER.set(Stream.concat(over().stream(), Stream.of(new Over(this.transaction, List.copyOf(resources()))))
					.toList());
			}
		}

		@Override
		public void afterCompletion(int status) {
			afterCommit();
		}

	}

	/**
	 * A transaction that is over.
	 *
	 * @param transaction the transaction
	 * @param resources the connections and contexts that were on its thread
	 */
	private record Over(TransactionExecution transaction, List<Object> resources) {

		boolean hasAny(Collection<Object> bound) {
			return this.resources.stream().anyMatch((own) -> bound.stream().anyMatch((other) -> other == own));
		}

	}

}
