package io.holdfast.lock.fencing;

import java.util.Collections;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

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

	/** Those that have not passed yet, one of each lease. */
	static List<LockHandle> notAmong(List<LockHandle> holds) {
		Set<Passed> seen = new HashSet<>(CURRENT.get());
		return holds.stream().filter((hold) -> seen.add(Passed.of(hold))).toList();
	}

	/** The current transaction has passed with these. */
	static void add(List<LockHandle> holds) {
		Set<Passed> passed = holds.stream().map(Passed::of).collect(Collectors.toSet());
		CURRENT.get().addAll(passed);
		TransactionSynchronizationManager.registerSynchronization(new ForgetWhenUndone(passed));
	}

	/**
	 * One hold that has passed; a further hold of the same lease is the same.
	 *
	 * @param backend the store
	 * @param lock the lock
	 * @param token the token
	 */
	private record Passed(String backend, LockName lock, FencingToken token) {

		static Passed of(LockHandle hold) {
			return new Passed(hold.backend(), hold.name(), hold.fencingToken());
		}

	}

	/**
	 * Forgets what a transaction has passed when that is undone: at the transaction's
	 * end, or by a rollback to a savepoint from before.
	 */
	private static final class ForgetWhenUndone implements TransactionSynchronization {

		private final Set<Passed> passed;

		private final Set<Object> laterSavepoints = Collections.newSetFromMap(new IdentityHashMap<>());

		ForgetWhenUndone(Set<Passed> passed) {
			this.passed = passed;
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
