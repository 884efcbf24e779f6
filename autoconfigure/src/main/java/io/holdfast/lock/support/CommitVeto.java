package io.holdfast.lock.support;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Prevents a rejected transaction from committing, regardless of its body. Requires
 * spring-tx.
 *
 * @param reason the reason of the rejection
 */
public record CommitVeto(Throwable reason) implements TransactionSynchronization {

	/**
	 * Prevents the current transaction from committing.
	 * @param thrown why it must not
	 * @return the reason to throw: after a checked exception, Spring would not roll back
	 */
	public static CommitVeto register(Throwable thrown) {
		CommitVeto veto = new CommitVeto((thrown instanceof RuntimeException || thrown instanceof Error) ? thrown
				: new IllegalStateException(
						"The transaction could not be protected by its locks: %s. It is rolled back.".formatted(thrown),
						thrown));
		TransactionSynchronizationManager.registerSynchronization(veto);
		return veto;
	}

	/** Throws the reason if the current transaction was rejected. */
	public static void throwReason() {
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

	/**
	 * Returns the reason.
	 * @return the reason
	 * @throws Error if the reason is one
	 */
	public RuntimeException thrown() {
		if (this.reason instanceof Error error) {
			throw error;
		}
		return (RuntimeException) this.reason;
	}

}
