package io.holdfast.lock.fencing;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.support.CommitVeto;

/**
 * Passes the fence with every transaction that starts or commits while its thread holds a
 * lock. Costs nothing if no lock is held. Thread-safe.
 */
final class FenceListener implements TransactionExecutionListener {

	private final Supplier<@Nullable TransactionFence> fence;

	/**
	 * Creates a listener.
	 * @param fence the fence, looked up at the first transaction with a lock;
	 * {@code null} if there is none
	 */
	FenceListener(Supplier<@Nullable TransactionFence> fence) {
		this.fence = fence;
	}

	@Override
	public void beforeBegin(TransactionExecution transaction) {
		TransactionFence present = transaction.isReadOnly() ? null : present();
		if (present != null) {
			present.beforeBegin();
		}
	}

	/**
	 * Throws nothing: Spring would leave the connection on the thread, where later
	 * transactions join it. The failed transaction can no longer commit.
	 */
	@Override
	public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
		if (beginFailure != null) {
			return;
		}
		try {
			TransactionFence present = present();
			if (present != null) {
				present.afterBegin(transaction.isNested());
			}
		}
		catch (Throwable ex) {
			// again if the fence has done so, but an error may have prevented that
			CommitVeto.register(ex);
		}
	}

	/** The end of a savepoint commits nothing. */
	@Override
	public void beforeCommit(TransactionExecution transaction) {
		if (transaction.isNested()) {
			return;
		}
		TransactionFence present = PassedHolds.ofTransaction().findAny().isPresent() ? this.fence.get() : present();
		if (present != null) {
			present.beforeCommit();
		}
	}

	/** A savepoint whose release or rollback has failed may still exist. */
	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
		if (transaction.isNested() && commitFailure == null) {
			PassedHolds.savepointEnded();
		}
	}

	@Override
	public void afterRollback(TransactionExecution transaction, @Nullable Throwable rollbackFailure) {
		afterCommit(transaction, rollbackFailure);
	}

	private @Nullable TransactionFence present() {
		return LockContext.handles().isEmpty() ? null : this.fence.get();
	}

}
