package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.support.SQLExceptionSubclassTranslator;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.holdfast.lock.support.TransactionAwareDataSources;

/**
 * Provides connections that never take part in the caller's transaction. Each statement
 * commits by itself, or several commit together, at READ COMMITTED. Every response has a
 * time limit, and the settings of a connection are restored after use.
 */
final class JdbcConnections {

	/**
	 * Margin of the network timeout over the statement timeout, so that a server that
	 * limits its statements itself answers first.
	 */
	private static final int GRACE_MILLIS = 500;

	private static final int MOST_REPETITIONS = 5;

	private final DataSource dataSource;

	private final int timeoutSeconds;

	/**
	 * The template's data source, under which the current connection is bound to the
	 * thread. So the template neither uses the connection of the caller's transaction nor
	 * registers its own there.
	 */
	private final DataSource bound;

	private volatile @Nullable Database database;

	private volatile boolean responsive;

	JdbcConnections(DataSource dataSource, int timeoutSeconds) {
		// with a connection of the caller's, the lock would join its transaction
		this.dataSource = TransactionAwareDataSources.target(dataSource);
		this.timeoutSeconds = timeoutSeconds;
		this.bound = new DelegatingDataSource(this.dataSource);
	}

	/** Returns the kind of database, determined once. */
	JdbcDialect dialect() throws SQLException {
		return database().dialect();
	}

	/**
	 * Whether the database can notify other connections; {@code true} if it is not known
	 * yet.
	 */
	boolean mayNotify() {
		Database known = this.database;
		return known == null || known.dialect().notifies();
	}

	private Database database() throws SQLException {
		Database known = this.database;
		if (known == null) {
			try (BorrowedConnection borrowed = borrow()) {
				Connection connection = borrowed.connection();
				JdbcDialect dialect = JdbcDialect.of(connection.getMetaData().getDatabaseProductName());
				known = new Database(dialect,
						connection.getTransactionIsolation() == Connection.TRANSACTION_READ_COMMITTED,
						template(dialect));
			}
			this.database = known;
		}
		return known;
	}

	private NamedParameterJdbcOperations template(JdbcDialect dialect) {
		JdbcTemplate template = new JdbcTemplate(this.bound);
		// the default may ask the database for its product on a broken connection
		template.setExceptionTranslator(new SQLExceptionSubclassTranslator());
		if (dialect.needsStatementTimeout()) {
			template.setQueryTimeout(this.timeoutSeconds);
		}
		return new NamedParameterJdbcTemplate(template);
	}

	/**
	 * Borrows a connection outside of the caller's transaction. A data source may lead
	 * that one to another database, because it is read-only or has an isolation level.
	 * There, other callers do not look for locks.
	 */
	private BorrowedConnection borrow() throws SQLException {
		boolean readOnly = TransactionSynchronizationManager.isCurrentTransactionReadOnly();
		Integer isolation = TransactionSynchronizationManager.getCurrentTransactionIsolationLevel();
		if (!readOnly && isolation == null) {
			return limited();
		}
		TransactionSynchronizationManager.setCurrentTransactionReadOnly(false);
		TransactionSynchronizationManager.setCurrentTransactionIsolationLevel(null);
		try {
			return limited();
		}
		finally {
			TransactionSynchronizationManager.setCurrentTransactionReadOnly(readOnly);
			TransactionSynchronizationManager.setCurrentTransactionIsolationLevel(isolation);
		}
	}

	/** Returns a connection that the data source has opened: limiting it needs it. */
	private BorrowedConnection limited() throws SQLException {
		BorrowedConnection borrowed = new BorrowedConnection(this.dataSource);
		try {
			borrowed.limitResponseTime((int) Math.min(Integer.MAX_VALUE, this.timeoutSeconds * 1_000L + GRACE_MILLIS));
			return borrowed;
		}
		catch (SQLException | RuntimeException | Error ex) {
			try (borrowed) {
				throw ex;
			}
		}
	}

	/**
	 * Returns a connection whose statements each commit by themselves, for as long as the
	 * caller keeps it.
	 */
	BorrowedConnection keep() throws SQLException {
		BorrowedConnection borrowed = borrow();
		try {
			borrowed.autoCommit(true);
			return borrowed;
		}
		catch (SQLException | RuntimeException | Error ex) {
			try (borrowed) {
				throw ex;
			}
		}
	}

	/** Runs work whose statements each commit by themselves, without a template. */
	<T> T direct(DirectWork<T> work) throws SQLException {
		return withConnection(true, (borrowed, known) -> work.run(borrowed.connection()));
	}

	/** Runs work whose statements each commit by themselves. */
	<T> T single(Work<T> work) throws SQLException {
		return withConnection(true, (borrowed, known) -> run(borrowed.connection(), known.jdbc(), work));
	}

	/** Runs work whose statements commit together or not at all. */
	<T> T together(Work<T> work) throws SQLException {
		return withConnection(false, (borrowed, known) -> commit(borrowed, known.jdbc(), work));
	}

	/**
	 * Retries work that the database has rolled back in favor of another transaction. The
	 * rollback guarantees that the work had no effect.
	 */
	private <T> T withConnection(boolean autoCommit, Use<T> use) throws SQLException {
		for (int again = 0;; again++) {
			try {
				return runOnce(autoCommit, use);
			}
			catch (SQLException ex) {
				if (again == MOST_REPETITIONS || !JdbcErrors.isRetryable(ex)) {
					throw ex;
				}
			}
		}
	}

	/** Whether the latest request was successful. */
	boolean isResponsive() {
		return this.responsive;
	}

	private <T> T runOnce(boolean autoCommit, Use<T> use) throws SQLException {
		boolean successful = false;
		try {
			T result = useOnce(autoCommit, use);
			successful = true;
			return result;
		}
		finally {
			if (this.responsive != successful) {
				this.responsive = successful;
			}
		}
	}

	private <T> T useOnce(boolean autoCommit, Use<T> use) throws SQLException {
		Database known = database();
		try (BorrowedConnection borrowed = borrow()) {
			if (!known.readCommitted() && !(autoCommit && known.dialect().updatesLatestState())) {
				borrowed.readCommitted();
			}
			borrowed.autoCommit(autoCommit);
			return use.of(borrowed, known);
		}
	}

	private <T> T commit(BorrowedConnection borrowed, NamedParameterJdbcOperations jdbc, Work<T> work)
			throws SQLException {
		try {
			T result = run(borrowed.connection(), jdbc, work);
			borrowed.connection().commit();
			return result;
		}
		catch (SQLException | RuntimeException | Error ex) {
			borrowed.rollback(ex);
			throw ex;
		}
	}

	private <T> T run(Connection connection, NamedParameterJdbcOperations jdbc, Work<T> work) throws SQLException {
		TransactionSynchronizationManager.bindResource(this.bound, new ConnectionHolder(connection));
		try {
			return work.run(jdbc);
		}
		catch (DataAccessException ex) {
			if (ex.getCause() instanceof SQLException cause) {
				throw cause;
			}
			throw ex;
		}
		finally {
			TransactionSynchronizationManager.unbindResource(this.bound);
		}
	}

	/**
	 * Properties of the database, known after the first connection.
	 *
	 * @param dialect its dialect
	 * @param readCommitted whether connections are at READ COMMITTED initially. This is
	 * checked only once, because some drivers send a request for it. A connection that
	 * differs only fails occasionally, and the work is retried
	 * @param jdbc runs statements on the connection that is bound to the thread
	 */
	private record Database(JdbcDialect dialect, boolean readCommitted, NamedParameterJdbcOperations jdbc) {
	}

	/**
	 * Uses a connection with the right settings.
	 *
	 * @param <T> the result
	 */
	@FunctionalInterface
	private interface Use<T> {

		T of(BorrowedConnection borrowed, Database known) throws SQLException;

	}

	/**
	 * Work that uses a connection without a template.
	 *
	 * @param <T> the result
	 */
	@FunctionalInterface
	interface DirectWork<T> {

		T run(Connection connection) throws SQLException;

	}

	/**
	 * Work that uses a connection.
	 *
	 * @param <T> the result
	 */
	@FunctionalInterface
	interface Work<T> {

		T run(NamedParameterJdbcOperations jdbc);

	}

}
