package io.holdfast.lock.fencing;

import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.function.Predicate;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.dao.PessimisticLockingFailureException;
import org.springframework.dao.QueryTimeoutException;
import org.springframework.jdbc.BadSqlGrammarException;
import org.springframework.transaction.TransactionTimedOutException;

import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.SqlStates;

/**
 * Explains why a database prevented a transaction from passing its fence.
 */
final class FenceFailure {

	private static final int MARIADB_LOCK_TIMEOUT = 1205;

	private static final int MARIADB_DEADLOCK = 1213;

	private static final String POSTGRESQL_LOCK_TIMEOUT = "55P03";

	private FenceFailure() {
	}

	/** Returns the same failure, or one that names the lock and the remedy. */
	static DataAccessException explained(FenceEntry entry, DataAccessException failure) {
		if (hiddenBySnapshot(failure)) {
			return new CannotAcquireLockException(
					"%s: another holder has passed the fence since this transaction took its snapshot, which does not show what that holder has written. This transaction must not write and is rolled back, as after every serialization failure. Repeat the call."
						.formatted(entry),
					failure);
		}
		if (lockWaitFailed(failure)) {
			return new CannotAcquireLockException(
					"%s: the database stopped waiting for the fence row of this lock, which another transaction has locked: that of an earlier holder, or of another reader if the database has no shared row locks. This transaction must not write and is rolled back. Repeat the call. Keep transactions under the lock short, or increase the database's lock timeout."
						.formatted(entry),
					failure);
		}
		if (failure instanceof BadSqlGrammarException) {
			return new InvalidDataAccessResourceUsageException(
					"%s: the fence table cannot be used in the database of this transaction (%s). This transaction is not fenced and is rolled back. Create the table with the script 'io/holdfast/lock/fencing/schema.sql' of this library, in each database to which a DataSource routes, and grant SELECT, INSERT and UPDATE on it."
						.formatted(entry, Failures.rootMessage(failure)),
					failure);
		}
		return failure;
	}

	/**
	 * Returns the failure of a transaction whose own timeout has ended. At the commit,
	 * Spring rolls back after it, but not after a {@link TransactionTimedOutException}:
	 * like after every {@code TransactionException}, the outcome would be unknown, and
	 * the return of the connection would commit.
	 */
	static DataAccessException timedOut(FenceEntry entry, TransactionTimedOutException failure) {
		return new QueryTimeoutException(
				"%s: the timeout of this transaction ended before it passed the fence. It must not write and is rolled back. Repeat the call, or increase the timeout of the transaction."
					.formatted(entry),
				failure);
	}

	/**
	 * Returns the failure of an inner transaction if it is not known whether the outer
	 * one still keeps the row.
	 */
	static DataAccessException inDoubt(FenceEntry entry, DataAccessException failure) {
		return new CannotAcquireLockException(
				"%s: a statement of the outer transaction has failed after a savepoint, and the database does not tell whether that transaction still keeps the fence row of this lock. This transaction must not write and is rolled back. Roll back to the savepoint first: let the exception leave the method with the nested transaction, or begin no other transaction after it."
					.formatted(entry),
				failure);
	}

	/**
	 * Returns whether the database rejects a transaction because its snapshot is older
	 * than the rows that it accesses. That does not identify the newer holder: it also
	 * happens to a holder that has waited for its predecessor.
	 */
	private static boolean hiddenBySnapshot(DataAccessException failure) {
		return SqlStates.isChangedSinceSnapshot(failure)
				|| causedBy(failure, (sql) -> SqlStates.SERIALIZATION_FAILURE.equals(sql.getSQLState())
						&& sql.getErrorCode() != MARIADB_DEADLOCK);
	}

	private static boolean lockWaitFailed(DataAccessException failure) {
		return failure instanceof QueryTimeoutException || failure instanceof PessimisticLockingFailureException
				|| SqlStates.startsWith(failure, POSTGRESQL_LOCK_TIMEOUT)
				|| causedBy(failure, (sql) -> sql instanceof SQLTimeoutException
						|| sql.getErrorCode() == MARIADB_LOCK_TIMEOUT || sql.getErrorCode() == MARIADB_DEADLOCK);
	}

	private static boolean causedBy(DataAccessException failure, Predicate<SQLException> condition) {
		return Failures.causes(failure).anyMatch((cause) -> cause instanceof SQLException sql && condition.test(sql));
	}

}
