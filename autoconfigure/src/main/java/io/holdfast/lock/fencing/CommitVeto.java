package io.holdfast.lock.fencing;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Prevents a rejected transaction from committing, regardless of its body.
 *
 * @param reason the reason of the rejection
 */
record CommitVeto(Throwable reason) implements TransactionSynchronization {

	/**
	 * Prevents the current transaction from committing.
	 * @param thrown why it must not
	 * @return the reason to throw: after a checked exception, Spring would not roll back
	 */
	static CommitVeto register(Throwable thrown) {
		CommitVeto veto = new CommitVeto((thrown instanceof RuntimeException || thrown instanceof Error) ? thrown
				: new IllegalStateException(
						"The fence could not be passed: %s. The transaction is rolled back.".formatted(thrown),
						thrown));
		TransactionSynchronizationManager.registerSynchronization(veto);
		return veto;
	}

	/** Throws the reason if the current transaction was rejected. */
	static void throwReason() {
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			TransactionSynchronizationManager.getSynchronizations().forEach((synchronization) -> {
				if (synchronization instanceof CommitVeto veto) {
					throw veto.thrown();
				}
			});
		}
	}

	@Override
	public void beforeCommit(boolean readOnly) {
		throw thrown();
	}

	/** Returns the reason, or throws it if it is an error. */
	RuntimeException thrown() {
		if (this.reason instanceof Error error) {
			throw error;
		}
		return (RuntimeException) this.reason;
	}

}
