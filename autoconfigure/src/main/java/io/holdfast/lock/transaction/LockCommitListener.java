package io.holdfast.lock.transaction;

import java.util.function.Predicate;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.spi.ManagedHold;
import io.holdfast.lock.spi.ManagedHold.Checkpoint;
import io.holdfast.lock.support.CommitVeto;
import io.holdfast.lock.support.FinishedTransaction;

/**
 * Makes a transaction keep the locks of its thread until it has completed and bypass the
 * caches of JPA, and rejects a commit whose locks have been lost. It checks every lock
 * that the committing thread holds, right before the transaction manager commits. An
 * exception at that moment rolls back.
 *
 * <p>
 * Locks acquired in a callback after the commit do not belong to the transaction. A
 * read-only transaction has no updates to lose and is not checked. Thread-safe.
 */
public final class LockCommitListener implements TransactionExecutionListener {

	private final Predicate<LockHandle> own;

	/**
	 * Creates a listener.
	 * @param own selects the holds of the thread that concern the transactions of this
	 * listener
	 */
	public LockCommitListener(Predicate<LockHandle> own) {
		this.own = own;
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		FinishedTransaction.beginning();
	}

	/**
	 * Throws nothing: Spring would leave the connection on the thread, where later
	 * transactions join it. The failed transaction can no longer commit.
	 */
	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		if (beginFailure != null) {
			FinishedTransaction.begun(null);
			return;
		}
		try {
			begun(transaction);
		}
		catch (Throwable ex) {
			CommitVeto.register(ex);
		}
	}

	private static void begun(TransactionExecution transaction) {
		FinishedTransaction.begun(transaction);
		DeferredReleases.onTransactionStarted();
		if (SpringTransactionBoundary.JPA_PRESENT && !LockContext.handles().isEmpty()) {
			PersistenceContexts.readPastCaches();
		}
	}

	/** Checks the holds, but not at the end of a savepoint, which commits nothing. */
	@Override
	public void beforeCommit(TransactionExecution transaction) {
		if (!transaction.isReadOnly() && !transaction.isNested()) {
			verify(LockContext.handles().stream().filter(this.own));
		}
	}

	static void verify(Stream<LockHandle> handles) {
		handles.filter(ManagedHold.class::isInstance)
			.map(ManagedHold.class::cast)
			.forEach((hold) -> hold.verify(Checkpoint.COMMIT));
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
		FinishedTransaction.ended(transaction);
	}

	@Override
	public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
		FinishedTransaction.ended(transaction);
	}

}
