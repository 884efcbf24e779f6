package io.holdfast.lock.fencing;

import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;

/**
 * The holds with which open transactions of the current thread have passed the fence.
 */
final class PassedHolds {

	private static final ThreadLocal<Set<Passed>> CURRENT = ThreadLocal.withInitial(HashSet::new);

	private PassedHolds() {
	}

	static boolean isEmpty() {
		return CURRENT.get().isEmpty();
	}

	/** Returns the holds that have not passed yet, one for each lease. */
	static List<LockHandle> notAmong(List<LockHandle> holds) {
		Set<Passed> seen = new HashSet<>(CURRENT.get());
		return holds.stream().filter((hold) -> seen.add(Passed.of(hold))).toList();
	}

	/** Records that the current transaction has passed with these holds. */
	static void add(List<LockHandle> holds) {
		Set<Passed> passed = holds.stream().map(Passed::of).collect(Collectors.toSet());
		CURRENT.get().addAll(passed);
		TransactionSynchronizationManager.registerSynchronization(new ForgetWhenUndone(passed));
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

		private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());

		ForgetWhenUndone(Set<Passed> passed) {
			this.passed = passed;
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
			Set<Passed> all = CURRENT.get();
			all.removeAll(this.passed);
			if (all.isEmpty()) {
				CURRENT.remove();
			}
		}

	}

}
