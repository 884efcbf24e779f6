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
	 * Returns the strictest level of the current transaction and of outer ones of other
	 * managers, with whose connections code may read, too.
	 */
	private @Nullable Integer strictestLevel() {
		Integer strictest = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
		boolean explicit = strictest != null;
		if (JDBC_PRESENT) {
			for (Map.Entry<Object, Object> resource : TransactionSynchronizationManager.getResourceMap().entrySet()) {
				if (resource.getValue() instanceof ConnectionHolder holder) {
					Integer level = level(resource.getKey(), holder, explicit);
					if (level != null) {
						strictest = (strictest != null) ? Math.max(strictest, level) : level;
					}
				}
			}
		}
		return strictest;
	}

	/**
	 * Returns the level of a connection, or {@code null} if it is the explicit one of the
	 * current transaction.
	 */
	private @Nullable Integer level(Object dataSource, ConnectionHolder holder, boolean explicit) {
		if (!FinishedTransaction.hasBegun() || FinishedTransaction.isOfOuter(holder)) {
			// an outer transaction may have an explicit level, so it shows no default
			return ask(holder);
		}
		return explicit ? null : defaultLevel(dataSource, holder);
	}

	private @Nullable Integer defaultLevel(Object dataSource, ConnectionHolder holder) {
		Integer known = this.defaults.get(dataSource);
		if (known == null) {
			known = ask(holder);
			if (known != null) {
				this.defaults.put(dataSource, known);
			}
		}
		return known;
	}

	/**
	 * Returns {@code null} if nothing can be read with the connection before the lock
	 * either: because Spring has returned it while the transaction was suspended, or
	 * because the database has ended its transaction.
	 */
	private static @Nullable Integer ask(ConnectionHolder holder) {
		if (holder.getConnectionHandle() == null) {
			return null;
		}
		Connection connection = holder.getConnection();
		try {
			return connection.getTransactionIsolation();
		}
		catch (SQLException ex) {
			if (Failures.isOfEndedTransaction(ex, connection)) {
				return null;
			}
			throw new LockConfigurationException(
					"The isolation level of a transaction of the caller cannot be read (%s), so it may read from a snapshot that is older than the lock. Acquire the lock before the transaction starts."
						.formatted(Failures.rootMessage(ex)),
					ex);
		}
	}

}
