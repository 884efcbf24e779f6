package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * Lends connections of the store's own: each statement commits by itself, or a few go
 * together, at READ COMMITTED, and never within the caller's transaction. A connection
 * goes back as it came.
 */
final class JdbcConnections {

	private final DataSource dataSource;

	private final int timeoutSeconds;

	JdbcConnections(DataSource dataSource, int timeoutSeconds) {
		this.dataSource = ownConnections(dataSource);
		this.timeoutSeconds = timeoutSeconds;
	}

	/**
	 * A proxy that hands out the caller's connection would let the lock join the caller's
	 * transaction.
	 */
	private static DataSource ownConnections(DataSource dataSource) {
		DataSource target = (dataSource instanceof TransactionAwareDataSourceProxy proxy) ? proxy.getTargetDataSource()
				: null;
		return (target != null) ? ownConnections(target) : dataSource;
	}

	/** Where they come from. */
	DataSource dataSource() {
		return this.dataSource;
	}

	/** Work whose every statement commits by itself. */
	<T> T single(Work<T> work) throws SQLException {
		return lend(true, work);
	}

	/** Work whose statements commit together, or not at all. */
	<T> T together(Work<T> work) throws SQLException {
		return lend(false, work);
	}

	private <T> T lend(boolean autoCommit, Work<T> work) throws SQLException {
		try (Connection connection = this.dataSource.getConnection()) {
			boolean autoCommitBefore = connection.getAutoCommit();
			int isolationBefore = connection.getTransactionIsolation();
			boolean otherIsolation = isolationBefore != Connection.TRANSACTION_READ_COMMITTED;
			if (otherIsolation) {
				connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
			}
			if (autoCommitBefore != autoCommit) {
				connection.setAutoCommit(autoCommit);
			}
			try {
				return run(connection, autoCommit, work);
			}
			finally {
				if (autoCommitBefore != autoCommit) {
					connection.setAutoCommit(autoCommitBefore);
				}
				if (otherIsolation) {
					connection.setTransactionIsolation(isolationBefore);
				}
			}
		}
	}

	private <T> T run(Connection connection, boolean autoCommit, Work<T> work) throws SQLException {
		JdbcSession session = new JdbcSession(connection, this.timeoutSeconds);
		if (autoCommit) {
			return work.run(session);
		}
		try {
			T result = work.run(session);
			connection.commit();
			return result;
		}
		catch (SQLException | RuntimeException ex) {
			connection.rollback();
			throw ex;
		}
	}

	/**
	 * What is done with a connection.
	 *
	 * @param <T> what comes of it
	 */
	@FunctionalInterface
	interface Work<T> {

		T run(JdbcSession session) throws SQLException;

	}

}
