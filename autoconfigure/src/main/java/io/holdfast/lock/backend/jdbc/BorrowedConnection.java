package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.ArrayDeque;
import java.util.Deque;

import javax.sql.DataSource;

/**
 * A connection for a single use. Restores all changed settings before the connection is
 * returned to its data source.
 */
final class BorrowedConnection implements AutoCloseable {

	private final Deque<Change> undo = new ArrayDeque<>();

	private final Connection connection;

	BorrowedConnection(DataSource dataSource) throws SQLException {
		this.connection = dataSource.getConnection();
	}

	Connection connection() {
		return this.connection;
	}

	/**
	 * Limits the wait for every response, whatever the server does. A stricter limit on
	 * the connection remains.
	 */
	void limitResponseTime(int millis) throws SQLException {
		try {
			int before = this.connection.getNetworkTimeout();
			if (before == 0 || before > millis) {
				this.connection.setNetworkTimeout(Runnable::run, millis);
				this.undo.push(() -> this.connection.setNetworkTimeout(Runnable::run, before));
			}
		}
		catch (SQLFeatureNotSupportedException | UnsupportedOperationException | AbstractMethodError ex) {
			// this driver leaves the limit to the operating system
		}
	}

	/**
	 * Changes the limit of every response until the next change. The limit from before
	 * this use is restored at the end.
	 * @return the limit until now
	 */
	int networkTimeout(int millis) throws SQLException {
		try {
			int before = this.connection.getNetworkTimeout();
			this.connection.setNetworkTimeout(Runnable::run, millis);
			return before;
		}
		catch (SQLFeatureNotSupportedException | UnsupportedOperationException | AbstractMethodError ex) {
			return 0;
		}
	}

	/**
	 * Sets READ COMMITTED if necessary. Reading the present isolation may take a request.
	 */
	void readCommitted() throws SQLException {
		int before = this.connection.getTransactionIsolation();
		if (before != Connection.TRANSACTION_READ_COMMITTED) {
			this.connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
			this.undo.push(() -> this.connection.setTransactionIsolation(before));
		}
	}

	void autoCommit(boolean autoCommit) throws SQLException {
		boolean before = this.connection.getAutoCommit();
		if (before != autoCommit) {
			this.connection.setAutoCommit(autoCommit);
			this.undo.push(() -> this.connection.setAutoCommit(before));
		}
	}

	/**
	 * Rolls back after a failure, to which it adds its own. If it fails, the transaction
	 * may still be open, so the connection is aborted. H2 does not do that, so its
	 * settings are restored only after another rollback: restoring the auto-commit would
	 * commit.
	 */
	void rollback(Throwable failure) {
		try {
			this.connection.rollback();
		}
		catch (SQLException | RuntimeException | Error ex) {
			addSuppressed(failure, ex);
			this.undo.push(this.connection::rollback);
			abort(failure);
		}
	}

	private void abort(Throwable failure) {
		try {
			this.connection.abort(Runnable::run);
		}
		catch (SQLException | RuntimeException | Error ex) {
			addSuppressed(failure, ex);
		}
	}

	private static void addSuppressed(Throwable failure, Throwable another) {
		if (failure != another) {
			failure.addSuppressed(another);
		}
	}

	/**
	 * Listens for notifications. If the connection breaks, its pool learns of it at the
	 * end at the latest: then a statement fails that the pool sees.
	 */
	void listen(String channel) throws SQLException {
		execute("LISTEN " + channel);
		this.undo.push(() -> execute("UNLISTEN " + channel));
	}

	private void execute(String sql) throws SQLException {
		try (Statement statement = this.connection.createStatement()) {
			statement.execute(sql);
		}
	}

	@Override
	public void close() throws SQLException {
		try (Connection returned = this.connection) {
			while (!this.undo.isEmpty() && !returned.isClosed()) {
				this.undo.pop().run();
			}
		}
	}

	/** Reverts one change of the connection. */
	@FunctionalInterface
	private interface Change {

		void run() throws SQLException;

	}

}
