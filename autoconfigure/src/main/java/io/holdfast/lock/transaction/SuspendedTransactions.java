package io.holdfast.lock.transaction;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.DefaultTransactionDefinition;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.spi.TransactionBoundary.LockedCall;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.FinishedTransaction;

/**
 * Runs a call outside transactions of its thread, by their managers' own means: outside
 * those that are over, or that of a caller.
 */
final class SuspendedTransactions {

	/** The holders of the connections and contexts that can write rows. */
	private static final Set<String> HOLDERS = Set.of("org.springframework.jdbc.datasource.ConnectionHolder",
			"org.springframework.orm.jpa.EntityManagerHolder");

	private final Deque<Scope> innermostFirst = new ArrayDeque<>();

	private SuspendedTransactions() {
	}

	/**
	 * Runs a call outside the transactions that are over.
	 * @param managers supplies the transaction managers
	 * @param call the call
	 * @return the result of the call
	 * @throws LockConfigurationException if no manager can suspend such a transaction
	 */
	static <T extends @Nullable Object, E extends Throwable> T run(
			Supplier<Stream<PlatformTransactionManager>> managers, LockedCall<T, E> call) throws E {
		return outside(managers.get().filter(SuspendedTransactions::isOver), () -> {
			requireNoneOnThread();
			return call.run();
		});
	}

	/** Runs a call outside the current transactions of some managers. */
	static <T extends @Nullable Object, E extends Throwable> T outside(Stream<PlatformTransactionManager> managers,
			LockedCall<T, E> call) throws E {
		SuspendedTransactions suspended = new SuspendedTransactions();
		T result;
		try {
			managers.forEach(suspended::add);
			result = call.run();
		}
		catch (Throwable ex) {
			suspended.resume(ex);
			throw ex;
		}
		suspended.resume(null);
		return result;
	}

	private static boolean isOver(PlatformTransactionManager manager) {
		return manager instanceof ResourceTransactionManager resources && FinishedTransaction
			.isOver(TransactionSynchronizationManager.getResource(resources.getResourceFactory()));
	}

	private static void requireNoneOnThread() {
		if (FinishedTransaction.transactionalResources()
			.anyMatch((resource) -> FinishedTransaction.isOver(resource)
					&& HOLDERS.contains(resource.getClass().getName()))) {
			throw new LockConfigurationException(
					"A lock was not acquired in a callback of a transaction that has completed: its connection is still on the thread, so what joins it would be committed after the lock is released. Publish the transaction manager as a bean, so that Holdfast can suspend the transaction, or run the callback in a transaction of its own (REQUIRES_NEW).");
		}
	}

	private void add(PlatformTransactionManager manager) {
		this.innermostFirst.addFirst(new Scope(manager, manager
			.getTransaction(new DefaultTransactionDefinition(TransactionDefinition.PROPAGATION_NOT_SUPPORTED))));
	}

	/** Ends all scopes. What a callback throws does not replace the call's exception. */
	private void resume(@Nullable Throwable thrown) {
		try {
			Failures.runAll(
					this.innermostFirst.stream().<Runnable>map((scope) -> () -> scope.end(thrown == null)).toList());
		}
		catch (RuntimeException | Error ex) {
			if (thrown == null) {
				throw ex;
			}
			if (thrown != ex) {
				thrown.addSuppressed(ex);
			}
		}
	}

	/**
	 * A scope without a transaction.
	 *
	 * @param manager the manager whose transaction is suspended
	 * @param status the status of the scope
	 */
	private record Scope(PlatformTransactionManager manager, TransactionStatus status) {

		void end(boolean successful) {
			if (successful) {
				this.manager.commit(this.status);
			}
			else {
				this.manager.rollback(this.status);
			}
		}

	}

}
