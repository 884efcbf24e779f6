package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;

/**
 * Lends connections of the store's own: each statement commits by itself, or a few go
 * together, at READ COMMITTED, and never within the caller's transaction. No answer is
 * waited for without a bound. A connection goes back as it came.
 */
final class JdbcConnections {

	/**
	 * By how much a server that bounds its statements itself is to be quicker than we.
	 */
	private static final int GRACE_MILLIS = 500;

	private static final int MOST_REPETITIONS = 5;

	private final DataSource dataSource;

	private final int timeoutSeconds;

	private volatile @Nullable Database database;

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

	/** What kind of database it is; asked for once. */
	JdbcDialect dialect() throws SQLException {
		return database().dialect();
	}

	private Database database() throws SQLException {
		Database known = this.database;
		if (known == null) {
			try (BorrowedConnection borrowed = borrow()) {
				Connection connection = borrowed.connection();
				known = new Database(JdbcDialect.of(connection.getMetaData().getDatabaseProductName()),
						connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED);
			}
			this.database = known;
		}
		return known;
	}

	private BorrowedConnection borrow() throws SQLException {
		BorrowedConnection borrowed = new BorrowedConnection(this.dataSource);
		try {
			borrowed.boundAnswers(this.timeoutSeconds * 1_000 + GRACE_MILLIS);
			return borrowed;
		}
		catch (SQLException | RuntimeException ex) {
			try (borrowed) {
				throw ex;
			}
		}
	}

	/** Work whose every statement commits by itself. */
	<T> T single(Work<T> work) throws SQLException {
		return withConnection(true, work);
	}

	/** Work whose statements commit together, or not at all. */
	<T> T together(Work<T> work) throws SQLException {
		return withConnection(false, work);
	}

	/**
	 * What the database has rolled back in favour of another is done again: of that it is
	 * known that nothing was done.
	 */
	private <T> T withConnection(boolean autoCommit, Work<T> work) throws SQLException {
		for (int again = 0;; again++) {
			try {
				return lendOnce(autoCommit, work);
			}
			catch (SQLException ex) {
				if (again == MOST_REPETITIONS || !JdbcErrors.rolledBackForAnother(ex)) {
					throw ex;
				}
			}
		}
	}

	private <T> T lendOnce(boolean autoCommit, Work<T> work) throws SQLException {
		Database known = database();
		try (BorrowedConnection borrowed = borrow()) {
			if (!known.readCommitted() && !(autoCommit && known.dialect().changesTheLatest())) {
				borrowed.readCommitted();
			}
			borrowed.autoCommit(autoCommit);
			JdbcSession session = new JdbcSession(borrowed.connection(),
					known.dialect().boundsWaitingItself() ? 0 : this.timeoutSeconds);
			return autoCommit ? work.run(session) : commit(borrowed.connection(), session, work);
		}
	}

	private static <T> T commit(Connection connection, JdbcSession session, Work<T> work) throws SQLException {
		try {
			T result = work.run(session);
			connection.commit();
			return result;
		}
		catch (SQLException | RuntimeException ex) {
			try {
				connection.rollback();
			}
			catch (SQLException again) {
				ex.addSuppressed(again);
			}
			throw ex;
		}
	}

	/**
	 * What is known of the database after the first connection.
	 *
	 * @param dialect what it understands
	 * @param readCommitted whether a connection is at READ COMMITTED when it comes. It is
	 * not asked again: with some drivers that is a request each time, and one connection
	 * that differs does no harm but fail now and then, and be retried
	 */
	private record Database(JdbcDialect dialect, boolean readCommitted) {
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
