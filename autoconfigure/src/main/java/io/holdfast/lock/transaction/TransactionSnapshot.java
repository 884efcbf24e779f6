package io.holdfast.lock.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.support.Failures;
import io.holdfast.lock.support.FinishedTransaction;
import io.holdfast.lock.support.SqlStates;

/**
 * Detects whether the current transaction reads from a snapshot that was taken at its
 * first read. Such a transaction does not see commits of other transactions since then.
 */
final class TransactionSnapshot {

	private static final boolean JDBC_PRESENT = ClassUtils
		.isPresent("org.springframework.jdbc.datasource.ConnectionHolder", TransactionSnapshot.class.getClassLoader());

	/**
	 * The isolation level of each data source's connections if a transaction sets none.
	 * Cached, because asking for it is a round trip.
	 */
	private final Map<Object, Integer> defaults = new ConcurrentReferenceHashMap<>();

	/**
	 * Returns the isolation level of a transaction that reads from a snapshot.
	 * @return its name, or {@code null} if the transaction sees the commits of others
	 */
	@Nullable String isolationOfOldReads() {
		Integer level = strictestLevel();
		if (level == null || level < Connection.TRANSACTION_REPEATABLE_READ) {
			return null;
		}
		return switch (level) {
			case Connection.TRANSACTION_REPEATABLE_READ -> "REPEATABLE READ";
			case Connection.TRANSACTION_SERIALIZABLE -> "SERIALIZABLE";
			default -> "snapshot isolation";
		};
	}

	/**
	 * Returns the strictest level of the current transaction and of the other connections
	 * of this thread, with which code may read, too: those of outer transactions of other
	 * managers, and those that are used beside the transaction.
	 */
	private @Nullable Integer strictestLevel() {
		Integer explicit = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
		return JDBC_PRESENT ? strictestLevel(explicit) : explicit;
	}

	private @Nullable Integer strictestLevel(@Nullable Integer explicit) {
		Integer strictest = explicit;
		for (Map.Entry<Object, Object> each : TransactionSynchronizationManager.getResourceMap().entrySet()) {
			Integer level = (each.getValue() instanceof ConnectionHolder holder && mayHaveSnapshot(holder))
					? level(each.getKey(), holder, explicit != null) : null;
			if (level != null) {
				strictest = (strictest != null) ? Math.max(strictest, level) : level;
			}
		}
		return strictest;
	}

	/**
	 * Returns whether code may have read with a connection from a snapshot that lasts.
	 * Spring may have returned it while the transaction was suspended, and with
	 * auto-commit, each statement has its own.
	 */
	private static boolean mayHaveSnapshot(ConnectionHolder holder) {
		try {
			return holder.getConnectionHandle() != null && !holder.getConnection().getAutoCommit();
		}
		catch (SQLException ex) {
			// it is closed
			return false;
		}
	}

	/**
	 * Returns the level of a connection, or {@code null} if it is the explicit one of the
	 * current transaction.
	 * @param explicit whether the current transaction has an explicit level
	 */
	private @Nullable Integer level(Object dataSource, ConnectionHolder holder, boolean explicit) {
		if (!FinishedTransaction.hasBegun() || FinishedTransaction.isOfOuter(holder)
				|| (explicit && !FinishedTransaction.isOwn(holder))) {
			// it may have an explicit level, so it shows no default
			return ask(holder.getConnection());
		}
		return explicit ? null : defaultLevel(dataSource, holder);
	}

	private @Nullable Integer defaultLevel(Object dataSource, ConnectionHolder holder) {
		Integer known = this.defaults.get(dataSource);
		if (known == null) {
			known = ask(holder.getConnection());
			if (known != null) {
				this.defaults.put(dataSource, known);
			}
		}
		return known;
	}

	/**
	 * Returns {@code null} if the database has ended the transaction, so that nothing can
	 * be read with the connection.
	 */
	private static @Nullable Integer ask(Connection connection) {
		try {
			return connection.getTransactionIsolation();
		}
		catch (SQLException ex) {
			if (SqlStates.isOfEndedTransaction(ex, connection)) {
				return null;
			}
			throw new LockConfigurationException(
					"The isolation level of a transaction of the caller cannot be read (%s), so it may read from a snapshot that is older than the lock. Acquire the lock before the transaction starts."
						.formatted(Failures.rootMessage(ex)),
					ex);
		}
	}

}
