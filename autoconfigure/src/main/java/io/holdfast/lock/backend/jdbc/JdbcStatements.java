package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;

import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.Resources;

/**
 * The statements for one database and one table. Their texts are resources of this
 * package.
 */
final class JdbcStatements {

	private final JdbcDialect dialect;

	private final String table;

	private final int timeoutSeconds;

	private final DirectStatement acquire;

	final String renew;

	private final DirectStatement release;

	/** Notifies waiters; {@code null} if the database does not support it. */
	final @Nullable String notify;

	final String abandon;

	private final DirectStatement markWaiter;

	final String lockRow;

	final String readState;

	final String forgetReaders;

	final String insertRow;

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

	JdbcStatements(JdbcDialect dialect, String table, int timeoutSeconds) {
		this.dialect = dialect;
		this.table = table;
		this.timeoutSeconds = timeoutSeconds;
		this.acquire = direct(dialect.variant("acquire"));
		this.renew = text(dialect.variant("renew"));
		this.release = direct(dialect.notifies() ? "release-and-notify" : "release");
		this.notify = dialect.notifies() ? text("notify") : null;
		this.abandon = text("abandon");
		this.markWaiter = direct(dialect.variant("mark-waiter"));
		this.insertRow = text(dialect.variant("insert-row"));
		this.lockRow = text("lock-row");
		this.readState = text("read-state");
		this.forgetReaders = text("forget-readers");
		this.insertReader = text("insert-reader");
		this.stillOwn = text("still-own");
		this.lockRows = text("lock-rows");
		this.stillOwnReaders = text("still-own-readers");
		this.renewReaders = text("renew-readers");
		this.countReaders = text("count-readers");
		this.deleteReader = text("delete-reader");
		this.admitReaders = text("admit-readers");
		this.probe = text("probe");
		this.findHolders = text("find-holders");
	}

	private DirectStatement direct(String name) {
		return DirectStatement.of(text(name), this.dialect.needsStatementTimeout() ? this.timeoutSeconds : 0);
	}

	private String text(String name) {
		String lockTimeout = this.dialect.lockTimeout(this.timeoutSeconds);
		return resource(name).replace("${release}", resource("release"))
			.replace("${waiter-columns}", resource("waiter-columns"))
			.replace("${table}", this.table)
			.replace("${now}", this.dialect.now())
			.replace("${andLockTimeout}", lockTimeout.isEmpty() ? "" : "AND " + lockTimeout)
			.replace("${lockTimeout}", lockTimeout)
			.replace("${channel}", ReleaseNotifications.CHANNEL);
	}

	private static String resource(String name) {
		return Resources.text(JdbcStatements.class, name + ".sql");
	}

	/** Returns the token of the owner, or zero if another owner holds the lock. */
	long acquire(Connection connection, OwnerId owner, Map<String, ?> parameters) throws SQLException {
		Long token = this.acquire.first(connection, parameters,
				(row) -> row.getString(1).equals(owner.value()) ? row.getLong(2) : 0L);
		return (token != null) ? token : 0;
	}

	/**
	 * Releases an exclusive lock, and notifies other instances if the database supports
	 * it. Returns whether there was a lease to release.
	 */
	boolean release(Connection connection, Map<String, ?> parameters) throws SQLException {
		return (this.notify != null) ? this.release.first(connection, parameters, (row) -> true) != null
				: this.release.update(connection, parameters) == 1;
	}

	/**
	 * Announces a claim that waits. Without it, a release would neither notify the claim
	 * nor keep the lock for it.
	 */
	Announced announce(Connection connection, Map<String, ?> parameters) throws SQLException {
		Announced announced = this.markWaiter.first(connection, parameters,
				(row) -> new Announced(row.getInt(1) == 1, row.getString(2).equals(parameters.get("owner"))));
		return (announced != null) ? announced : Announced.WITHOUT_ROW;
	}

	/**
	 * Announces a reader that waits, in the transaction that has locked the row.
	 * @return whether it is the first waiter
	 */
	boolean announceReader(NamedParameterJdbcOperations jdbc, Map<String, ?> parameters) {
		Announced announced = jdbc.getJdbcOperations()
			.execute((ConnectionCallback<Announced>) (connection) -> announce(connection, parameters));
		return announced != null && announced.first();
	}

	/**
	 * Notifies other instances that the lock may be free, if the database supports it.
	 */
	void notifyWaiters(NamedParameterJdbcOperations jdbc, Map<String, ?> parameters) {
		if (this.notify != null) {
			jdbc.query(this.notify, parameters, (row, number) -> true);
		}
	}

	/**
	 * The position of a claim that was announced.
	 *
	 * @param free whether the lock is free by now, or kept for the claim, so that no
	 * notification follows
	 * @param first whether the claim is the first waiter
	 */
	record Announced(boolean free, boolean first) {

		/** A lock without a row has no holder. */
		private static final Announced WITHOUT_ROW = new Announced(true, false);

	}

}
