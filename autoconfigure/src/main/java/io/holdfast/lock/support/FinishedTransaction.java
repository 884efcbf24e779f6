package io.holdfast.lock.support;

import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.core.Ordered;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.support.ResourceHolderSupport;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Detects whether a transaction is over although its connections and contexts are still
 * on the thread, and Spring may still report it as active. That is the case while its
 * callbacks after the commit or the rollback run, such as those of
 * {@code @TransactionalEventListener}. Work done there does not belong to the
 * transaction, not even that of a {@code @Transactional} method that joins it. Requires
 * spring-tx.
 */
public final class FinishedTransaction {

	/**
	 * The type of a connection on the thread. A manager of JPA does not mark the one that
	 * it binds beside its context as synchronized with the transaction.
	 */
	private static final String CONNECTION_HOLDER = "org.springframework.jdbc.datasource.ConnectionHolder";

	/** The transactions of this thread whose callbacks run, if there are any. */
	private static final ThreadLocal<@Nullable List<Over>> OVER = new ThreadLocal<>();

	/** The resources that were on the thread before a transaction that now begins. */
	private static final ThreadLocal<@Nullable List<Object>> BEFORE = new ThreadLocal<>();

	private FinishedTransaction() {
	}

	/**
	 * Notes that a transaction is about to begin on this thread. Call this for each
	 * transaction.
	 */
	public static void beginning() {
		List<Object> before = transactionalResources().toList();
		if (before.isEmpty()) {
			BEFORE.remove();
		}
		else {
			BEFORE.set(before);
		}
	}

	/**
	 * Notes that a transaction has begun on this thread, or has failed to begin. Call
	 * this for each transaction.
	 * @param transaction the transaction, or {@code null} if it has failed to begin
	 */
	public static void begun(@Nullable TransactionExecution transaction) {
		List<Object> before = BEFORE.get();
		BEFORE.remove();
		// a savepoint begins within a transaction that is already marked
		if (transaction == null || !TransactionSynchronizationManager.isSynchronizationActive() || mark() != null) {
			return;
		}
		Mark mark = new Mark(transaction, (before != null) ? before : List.of());
		TransactionSynchronizationManager.registerSynchronization(mark);
		if (OVER.get() != null) {
			retain(over().stream().filter((over) -> !over.hasAnyOf(mark.own.stream())).toList());
		}
	}

	/**
	 * Notes that the callbacks of a transaction of this thread have run. Call this for
	 * each transaction that has begun.
	 * @param transaction the transaction
	 */
	public static void ended(TransactionExecution transaction) {
		if (OVER.get() != null) {
			retain(over().stream().filter((over) -> over.transaction() != transaction).toList());
		}
	}

	/** Forgets also those whose resources have been returned. */
	private static void retain(List<Over> others) {
		List<Over> open = others.stream().filter(Over::isOpen).toList();
		if (open.isEmpty()) {
			OVER.remove();
		}
		else {
			OVER.set(open);
		}
	}

	private static List<Over> over() {
		List<Over> over = OVER.get();
		return (over != null) ? over : List.of();
	}

	/**
	 * Returns whether it was noted that the current transaction has begun.
	 * @return {@code false} for a transaction of a manager without our listener
	 */
	public static boolean hasBegun() {
		return TransactionSynchronizationManager.isSynchronizationActive() && mark() != null;
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
		return (mark != null) ? mark.over : isAnyOnThread();
	}

	/**
	 * Returns whether code on this thread would work on the connection or the context of
	 * a transaction that is over. Spring may no longer report that transaction as active:
	 * a callback that begins a transaction of its own ends that report.
	 * @return whether there is such a resource, and no transaction in progress
	 */
	public static boolean isOnThread() {
		return isAnyOnThread() && (!TransactionSynchronizationManager.isActualTransactionActive() || isCurrent());
	}

	/**
	 * Returns whether code in the transaction in progress could also work on the
	 * connection or the context of a transaction that is over, because the one in
	 * progress belongs to another manager and runs in a callback.
	 * @return whether there are such a resource and a transaction in progress
	 */
	public static boolean isUnderAnother() {
		return isAnyOnThread() && TransactionSynchronizationManager.isActualTransactionActive() && !isCurrent();
	}

	private static boolean isAnyOnThread() {
		return OVER.get() != null && over().stream().anyMatch((over) -> over.hasAnyOf(transactionalResources()));
	}

	/**
	 * Returns whether a resource belongs to an outer transaction, whose manager is
	 * another one than that of the current transaction.
	 * @param resource the resource
	 * @return whether it was on the thread when the current transaction began
	 */
	public static boolean isOfOuter(Object resource) {
		Mark mark = TransactionSynchronizationManager.isSynchronizationActive() ? mark() : null;
		// Spring may notify another listener of the begin first
		List<Object> before = (mark != null) ? mark.others : BEFORE.get();
		return before != null && isAmong(resource, before);
	}

	/**
	 * Returns whether a resource belongs to the current transaction itself.
	 * @param resource the resource
	 * @return whether it was bound when the current transaction began; {@code false} for
	 * one that code uses beside the transaction
	 */
	public static boolean isOwn(Object resource) {
		Mark mark = TransactionSynchronizationManager.isSynchronizationActive() ? mark() : null;
		return mark != null && isAmong(resource, mark.own);
	}

	/**
	 * Returns whether a resource belongs to a transaction of this thread that is over.
	 * @param resource the resource
	 * @return whether it is
	 */
	public static boolean isOver(@Nullable Object resource) {
		return resource != null && over().stream().anyMatch((over) -> over.hasAnyOf(Stream.of(resource)));
	}

	/**
	 * Returns the connections and contexts of the transactions of this thread that are
	 * over, whether or not they are suspended.
	 * @return the resources
	 */
	public static List<Object> resources() {
		// Spring does not report the end of each transaction whose callbacks have run
		return over().stream().filter(Over::isOpen).flatMap((over) -> over.resources().stream()).toList();
	}

	/**
	 * Returns the connections and contexts of this thread that belong to a transaction,
	 * which unbinds them.
	 * @return the resources
	 */
	public static Stream<Object> transactionalResources() {
		return TransactionSynchronizationManager.getResourceMap()
			.values()
			.stream()
			.filter(FinishedTransaction::isTransactional);
	}

	/**
	 * Returns whether a resource is one of several. Resources are compared by identity.
	 * @param resource the resource
	 * @param resources the others
	 * @return whether it is among them
	 */
	public static boolean isAmong(Object resource, List<Object> resources) {
		return resources.stream().anyMatch((other) -> other == resource);
	}

	private static boolean isTransactional(Object resource) {
		return isSynchronized(resource) || resource.getClass().getName().equals(CONNECTION_HOLDER);
	}

	private static boolean isSynchronized(Object resource) {
		return resource instanceof ResourceHolderSupport holder && holder.isSynchronizedWithTransaction();
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

		/** Resources of others, such as an outer transaction of another manager. */
		private final List<Object> others;

		/** What the manager has bound at the begin. */
		private final List<Object> own;

		private boolean over;

		Mark(TransactionExecution transaction, List<Object> others) {
			this.transaction = transaction;
			this.others = others;
			this.own = resources();
		}

		private List<Object> resources() {
			return transactionalResources().filter((resource) -> !isAmong(resource, this.others)).toList();
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void afterCommit() {
			List<Object> own = this.over ? List.of() : resources();
			this.over = true;
			if (!own.isEmpty()) {
				OVER.set(Stream.concat(over().stream(), Stream.of(new Over(this.transaction, own))).toList());
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
	 * @param resources its connections and contexts
	 */
	private record Over(TransactionExecution transaction, List<Object> resources) {

		boolean hasAnyOf(Stream<Object> others) {
			return others.anyMatch((other) -> isAmong(other, this.resources));
		}

		boolean isOpen() {
			return this.resources.stream().anyMatch(FinishedTransaction::isSynchronized);
		}

	}

}
