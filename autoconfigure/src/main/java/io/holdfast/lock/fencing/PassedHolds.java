package io.holdfast.lock.fencing;

import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiPredicate;
import java.util.stream.Collectors;

import org.springframework.core.Ordered;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.support.FinishedTransaction;

/**
 * The holds with which open transactions of the current thread have passed the fence,
 * each with the connection of its transaction.
 */
final class PassedHolds {

	private static final ThreadLocal<Map<Passed, ConnectionHolder>> CURRENT = ThreadLocal.withInitial(HashMap::new);

	private PassedHolds() {
	}

	static boolean isEmpty() {
		return CURRENT.get().isEmpty();
	}

	/**
	 * Returns the holds that have not passed yet, one for each lease. The row of a
	 * transaction that is over is free, although its callbacks still run.
	 * @param holds the holds
	 * @param kept whether the transaction of a connection still keeps the row of a hold
	 */
	static List<LockHandle> notAmong(List<LockHandle> holds, BiPredicate<LockHandle, ConnectionHolder> kept) {
		Set<Passed> seen = new HashSet<>();
		return holds.stream().filter((hold) -> seen.add(Passed.of(hold)) && !hasPassed(hold, kept)).toList();
	}

	private static boolean hasPassed(LockHandle hold, BiPredicate<LockHandle, ConnectionHolder> kept) {
		ConnectionHolder connection = CURRENT.get().get(Passed.of(hold));
		return connection != null && !FinishedTransaction.isOver(connection) && kept.test(hold, connection);
	}

	/**
	 * Records that the current transaction has passed with these holds.
	 * @param holds the holds
	 * @param connection the resource of its connection
	 */
	static void add(List<LockHandle> holds, ConnectionHolder connection) {
		Set<Passed> passed = holds.stream().map(Passed::of).collect(Collectors.toSet());
		passed.forEach((hold) -> CURRENT.get().put(hold, connection));
		TransactionSynchronizationManager.registerSynchronization(new ForgetWhenUndone(passed, connection));
	}

	/**
	 * One hold that has passed. Further holds of the same lease are equal to it.
	 *
	 * @param backend the name of the backend
	 * @param lock the lock
	 * @param token the token
	 */
	private record Passed(String backend, LockName lock, FencingToken token) {

		static Passed of(LockHandle hold) {
			return new Passed(hold.backend(), hold.lock(), hold.fencingToken());
		}

	}

	/**
	 * Removes the holds with which a transaction has passed when its row is free again:
	 * after its commit, before any other callback can begin a transaction, or by a
	 * rollback, also to an earlier savepoint.
	 */
	private static final class ForgetWhenUndone implements TransactionSynchronization {

		private final Set<Passed> passed;

		private final ConnectionHolder connection;

		private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());

		ForgetWhenUndone(Set<Passed> passed, ConnectionHolder connection) {
			this.passed = passed;
			this.connection = connection;
		}

		@Override
		public int getOrder() {
			return Ordered.HIGHEST_PRECEDENCE;
		}

		@Override
		public void afterCommit() {
			forget();
		}

		@Override
		public void savepoint(Object savepoint) {
			this.laterSavepoints.add(savepoint);
		}

		@Override
		public void savepointRollback(Object savepoint) {
			if (!this.laterSavepoints.contains(savepoint)) {
				forget();
			}
		}

		@Override
		public void afterCompletion(int status) {
			forget();
		}

		private void forget() {
			Map<Passed, ConnectionHolder> all = CURRENT.get();
			this.passed.forEach((hold) -> all.remove(hold, this.connection));
			if (all.isEmpty()) {
				CURRENT.remove();
			}
		}

	}

}
