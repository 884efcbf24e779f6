package io.holdfast.lock.transaction;

import java.util.Objects;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.support.FinishedTransaction;

/**
 * Persistence contexts of Hibernate that may write entities after the lock has been
 * released. An UPDATE writes all columns, so the old values would overwrite what the
 * locked call or later holders have written. {@link OverwriteListener} checks the
 * entities that are noted here.
 */
final class LaterWrites {

	private LaterWrites() {
	}

	/**
	 * Notes the entities of the transactions of this thread that are suspended or over.
	 * They are written when these transactions are resumed, or later by the request.
	 * @param locks the locks to acquire, as text
	 * @return the contexts
	 */
	static Stream<ContextChange> ofOtherTransactions(Supplier<String> locks) {
		return Stream.concat(DeferredReleases.suspendedResources().stream(), FinishedTransaction.resources().stream())
			.map(PersistenceContexts::contextOf)
			.filter(Objects::nonNull)
			.map(HibernateContext::of)
			.filter((context) -> context != null && context.entities() != null)
			.map((context) -> new Suspended(context, locks.get()));
	}

	/**
	 * Notes the entities that a locked call reads into a context that stays open after
	 * the release.
	 * @param context the context, which has read nothing
	 * @param locks the locks to acquire, as text
	 * @return the context
	 */
	static ContextChange ofOpen(HibernateContext context, String locks) {
		return new Open(context, locks, Thread.currentThread());
	}

	/**
	 * The context of a suspended transaction.
	 */
	private static final class Suspended implements ContextChange {

		private final HibernateContext context;

		private final Thread thread = Thread.currentThread();

		Suspended(HibernateContext context, String locks) {
			this.context = context;
			ReadBeforeLock.noteAll(context.session(), locks);
			SetAsideSessions.addUnlessVersioned(context.session(), locks);
		}

		@Override
		public void undo() {
			if (Thread.currentThread() == this.thread) {
				SetAsideSessions.remove(this.context.session());
			}
		}

	}

	/**
	 * A context that stays open.
	 *
	 * @param context the context
	 * @param locks the locks, as text
	 * @param thread the thread to which the context is bound
	 */
	private record Open(HibernateContext context, String locks, Thread thread) implements ContextChange {

		@Override
		public void undo() {
			// a transaction in progress keeps its locks until it has written everything
			if (Thread.currentThread() == this.thread && this.context.session().isOpen()
					&& (!TransactionSynchronizationManager.isActualTransactionActive()
							|| FinishedTransaction.isCurrent())) {
				ReadBeforeLock.noteAll(this.context.session(), this.locks);
			}
		}

	}

}
