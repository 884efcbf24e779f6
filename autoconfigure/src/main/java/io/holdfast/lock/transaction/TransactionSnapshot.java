package io.holdfast.lock.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.ClassUtils;
import org.springframework.util.ConcurrentReferenceHashMap;

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
		Integer level = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
		if (level == null && JDBC_PRESENT) {
			level = defaultLevel();
		}
		if (level == null || level < Connection.TRANSACTION_REPEATABLE_READ) {
			return null;
		}
		return switch (level) {
			case Connection.TRANSACTION_REPEATABLE_READ -> "REPEATABLE READ";
			case Connection.TRANSACTION_SERIALIZABLE -> "SERIALIZABLE";
			default -> "snapshot isolation";
		};
	}

	private @Nullable Integer defaultLevel() {
		Integer strictest = null;
		for (Map.Entry<Object, Object> resource : TransactionSynchronizationManager.getResourceMap().entrySet()) {
			if (resource.getValue() instanceof ConnectionHolder holder) {
				int level = this.defaults.computeIfAbsent(resource.getKey(), (dataSource) -> ask(holder));
				strictest = (strictest != null) ? Math.max(strictest, level) : level;
			}
		}
		return strictest;
	}

	private static int ask(ConnectionHolder holder) {
		try {
			return holder.getConnection().getTransactionIsolation();
		}
		catch (SQLException ex) {
			throw new IllegalStateException("The isolation level of the current transaction cannot be read", ex);
		}
	}

}
