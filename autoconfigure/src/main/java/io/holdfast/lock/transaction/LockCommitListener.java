package io.holdfast.lock.transaction;

import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.support.FinishedTransaction;

/**
 * Has a transaction keep the locks of its thread until it has completed and read past the
 * caches of JPA, and refuses a commit whose locks have been lost. It looks at every lock
 * that the committing thread holds, right before the transaction manager commits; an
 * exception there rolls back.
 *
 * <p>
 * What is acquired in a callback after the commit does not belong to the transaction. A
 * read-only transaction has nothing to lose and is not checked. Nothing here throws when
 * a transaction begins: that would leak its connection. Thread-safe.
 */
public final class LockCommitListener implements TransactionExecutionListener {

	private final Predicate<LockHandle> own;

	/**
	 * Create a listener.
	 * @param own which holds of the thread concern the transactions that this listens to
	 */
	public LockCommitListener(Predicate<LockHandle> own) {
		this.own = own;
	}

	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		if (beginFailure != null) {
			return;
		}
		DeferredReleases.begin();
		if (SpringTransactionBoundary.JPA_PRESENT && !LockContext.handles().isEmpty()) {
			PersistenceContexts.readPastCaches();
		}
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		if (!transaction.isReadOnly()) {
			LockContext.handles().stream().filter(this.own).forEach(LockHandle::assertHeldAtCommit);
		}
		FinishedTransaction.finishAtCommit();
	}

}
