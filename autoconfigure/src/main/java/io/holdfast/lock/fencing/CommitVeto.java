package io.holdfast.lock.fencing;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Prevents a rejected transaction from committing, regardless of its body.
 *
 * @param reason the reason of the rejection
 */
record CommitVeto(RuntimeException reason) implements TransactionSynchronization {

	/** Prevents the current transaction from committing. */
	static void register(RuntimeException reason) {
		TransactionSynchronizationManager.registerSynchronization(new CommitVeto(reason));
	}

	/** Throws the reason if the current transaction was rejected. */
	static void throwReason() {
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.getSynchronizations().forEach((synchronization) -> {
				if (synchronization instanceof CommitVeto veto) {
					throw veto.reason();
				}
			});
		}
	}

	@Override
	public void beforeCommit(boolean readOnly) {
		throw this.reason;
	}

}
