package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;

/**
 * The statements for one database and one table.
 */
final class JdbcStatements {

	private final StatementTexts texts;

	final AcquireStatements acquire;

	final String renew;

	/**
	 * Finds out which leases {@link #renew} has renewed; {@code null} if that returns
	 * them.
	 */
	final @Nullable String renewed;

	final String now;

	private final DirectStatement release;

	/** Releases the lock without a notification. */
	private final DirectStatement quietRelease;

	/** Notifies waiters; {@code null} if the database does not support it. */
	final @Nullable String notify;

	private final DirectStatement revoke;

	final String abandon;

	private final DirectStatement markWaiter;

	/**
	 * Reads what {@link #markWaiter} has changed; {@code null} if that returns it.
	 */
	private final @Nullable DirectStatement readWaiter;

	final String lockRow;

	final String readState;

	final String forgetReaders;

	private final DirectStatement insertRow;

	final String insertReader;

	final String stillOwn;

	final String lockRows;

	final String stillOwnReaders;

	final String renewReaders;

	final String countReaders;

	final String deleteReader;

	final String admitReaders;

	final String probe;

	final String findHolders;

	JdbcStatements(StatementTexts texts) {
		JdbcDialect dialect = texts.dialect();
		this.texts = texts;
		this.acquire = new AcquireStatements(texts);
		this.renew = texts.text(dialect.variant("renew"));
		this.renewed = dialect.returnsChangedRows() ? null : texts.text(dialect.variant("renewed"));
		this.now = texts.text("now");
		this.quietRelease = texts.direct("release");
		this.release = dialect.notifies() ? texts.direct("release-and-notify") : this.quietRelease;
		this.revoke = dialect.notifies() ? texts.direct("revoke") : this.release;
		this.notify = dialect.notifies() ? texts.text("notify") : null;
		this.abandon = texts.text("abandon");
		this.markWaiter = texts.direct(dialect.variant("mark-waiter"));
		this.readWaiter = dialect.returnsChangedRows() ? null : texts.direct(dialect.variant("read-waiter"));
		this.insertRow = texts.direct(dialect.insertRow());
		this.lockRow = texts.text("lock-row");
		this.readState = texts.text("read-state");
		this.forgetReaders = texts.text("forget-readers");
		this.insertReader = texts.text("insert-reader");
		this.stillOwn = texts.text("still-own");
		this.lockRows = texts.text("lock-rows");
		this.stillOwnReaders = texts.text("still-own-readers");
		this.renewReaders = texts.text("renew-readers");
		this.countReaders = texts.text("count-readers");
		this.deleteReader = texts.text("delete-reader");
		this.admitReaders = texts.text("admit-readers");
		this.probe = texts.text("probe");
		this.findHolders = texts.text("find-holders");
	}

	/**
	 * Returns statements that change nothing, but fail without the rights of the others.
	 */
	List<String> probesOfRights() {
		String tables = this.texts.text("probe-rights");
		return List.of(((this.notify != null) ? tables + ";" + this.texts.text("probe-notify") : tables).split(";"));
	}

	/**
	 * Inserts the row of a free lock. Fails if it exists, unless the database can skip
	 * it.
	 */
	int insertRow(Connection connection, ClaimParameters parameters) throws SQLException {
		return this.insertRow.update(connection, parameters::getValue);
	}

	/**
	 * Releases an exclusive lock, and notifies other instances if the database supports
	 * it and can store the notification: waiters poll otherwise. Returns whether there
	 * was a lease to release.
	 */
	boolean release(Connection connection, ClaimParameters parameters) throws SQLException {
		try {
			return ended(this.release, connection, parameters::getValue);
		}
		catch (SQLException ex) {
			if (this.notify == null || !JdbcErrors.isNotificationRejected(ex)) {
				throw ex;
			}
			// the lock would stay closed until its lease ends
			return this.quietRelease.update(connection, parameters::getValue) == 1;
		}
	}

	/**
	 * Releases an exclusive lock by force. If its lease is sticky and the database
	 * supports it, demands the lease in the same statement: without the demand, the
	 * instance that keeps the lease would pass it on to another caller. Returns whether
	 * there was a lease to release.
	 */
	boolean revoke(Connection connection, Map<String, Object> parameters) throws SQLException {
		return ended(this.revoke, connection, parameters::get);
	}

	private boolean ended(DirectStatement release, Connection connection,
			Function<String, ? extends @Nullable Object> parameters) throws SQLException {
		return (this.notify != null) ? release.first(connection, parameters, (row) -> true) != null
				: release.update(connection, parameters) == 1;
	}

	/**
	 * Announces a claim that waits. Without it, a release would neither notify the claim
	 * nor keep the lock for it.
	 */
	Announced announce(Connection connection, ClaimParameters parameters) throws SQLException {
		DirectStatement returning = this.markWaiter;
		if (this.readWaiter != null) {
			this.markWaiter.update(connection, parameters::getValue);
			returning = this.readWaiter;
		}
		Announced announced = returning.first(connection, parameters::getValue,
				(row) -> new Announced(row.getInt(1) == 1, row.getString(2).equals(parameters.claim().owner().value()),
						row.getInt(1) == 2, (this.notify != null) ? row.getLong(3) : 0,
						(this.notify != null) ? row.getLong(4) : 0));
		return (announced != null) ? announced : Announced.WITHOUT_ROW;
	}

	/**
	 * Announces a reader that waits, in the transaction that has locked the row.
	 */
	Announced announceReader(NamedParameterJdbcOperations jdbc, ClaimParameters parameters) {
		Announced announced = jdbc.getJdbcOperations()
			.execute((ConnectionCallback<Announced>) (connection) -> announce(connection, parameters));
		return (announced != null) ? announced : Announced.WITHOUT_ROW;
	}

	/**
	 * Notifies other instances that the lock may be free, if the database supports it.
	 */
	void notifyWaiters(NamedParameterJdbcOperations jdbc, ClaimParameters parameters) {
		if (this.notify != null) {
			jdbc.query(this.notify, parameters, (row, number) -> true);
		}
	}

	/**
	 * Notifies other instances of a change that is committed already, unless the database
	 * cannot store the notification: waiters then poll.
	 */
	void notifyIfPossible(NamedParameterJdbcOperations jdbc, ClaimParameters parameters) {
		try {
			notifyWaiters(jdbc, parameters);
		}
		catch (DataAccessException ex) {
			if (!(ex.getCause() instanceof SQLException cause) || !JdbcErrors.isNotificationRejected(cause)) {
				throw ex;
			}
		}
	}

	/**
	 * The position of a claim that was announced.
	 *
	 * @param free whether the lock is free by now, or kept for the claim, so that no
	 * notification follows
	 * @param first whether the claim is the first waiter
	 * @param demanded whether the lock has a sticky lease, which was demanded
	 * @param micros the time of the database, if it notifies; otherwise 0
	 * @param token the latest token, if the database notifies; otherwise 0
	 */
	record Announced(boolean free, boolean first, boolean demanded, long micros, long token) {

		/** A lock without a row has no holder. */
		private static final Announced WITHOUT_ROW = new Announced(true, false, false, 0, 0);

	}

}
