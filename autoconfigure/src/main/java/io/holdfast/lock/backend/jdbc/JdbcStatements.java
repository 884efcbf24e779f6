package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;

import io.holdfast.lock.spi.Claim;
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

	/** For a claim that does not wait. */
	private final DirectStatement acquireOrDemand;

	/** For a claim whose lease is sticky. */
	private final DirectStatement acquireSticky;

	/** For a claim whose lease is sticky and which does not wait. */
	private final DirectStatement acquireStickyOrDemand;

	final String renew;

	private final DirectStatement release;

	/** Notifies waiters; {@code null} if the database does not support it. */
	final @Nullable String notify;

	private final DirectStatement revoke;

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
		String claim = dialect.variant("acquire");
		this.acquire = direct(text(claim));
		this.acquireSticky = direct(text(stickyClaim()));
		this.acquireOrDemand = dialect.notifies() ? orDemand(claim) : this.acquire;
		this.acquireStickyOrDemand = dialect.notifies() ? orDemand(stickyClaim()) : this.acquire;
		this.renew = text(dialect.variant("renew"));
		this.release = direct(text(dialect.notifies() ? "release-and-notify" : "release"));
		this.revoke = dialect.notifies() ? direct(text("revoke")) : this.release;
		this.notify = dialect.notifies() ? text("notify") : null;
		this.abandon = text("abandon");
		this.markWaiter = direct(text(dialect.variant("mark-waiter")));
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

	private String stickyClaim() {
		return this.dialect.variant(this.dialect.notifies() ? "acquire-sticky" : "acquire");
	}

	private DirectStatement orDemand(String claim) {
		return direct(text("or-demand").replace("${claim}", text(claim)));
	}

	private DirectStatement direct(String text) {
		return DirectStatement.of(text, this.dialect.needsStatementTimeout() ? this.timeoutSeconds : 0);
	}

	private String text(String name) {
		String settings = this.dialect.settings(this.timeoutSeconds);
		return resource(name).replace("${release-and-notify}", resource("release-and-notify").strip())
			.replace("${release}", resource("release"))
			.replace("${demand}", resource("demand").strip())
			.replace("${written}", this.dialect.notifies() ? resource("written-postgresql").strip() : "1")
			.replace("${waiter-columns}", resource("waiter-columns"))
			.replace("${table}", this.table)
			.replace("${now}", this.dialect.now())
			.replace("${settings}", settings)
			.replace("${andSettings}", settings.isEmpty() ? "" : "AND " + settings)
			.replace("${andTransactionSettings}", this.dialect.andTransactionSettings(this.timeoutSeconds))
			.replace("${durable}", this.dialect.durable())
			.replace("${channel}", ReleaseNotifications.CHANNEL)
			.replace("${wanted}", ReleaseNotifications.WANTED);
	}

	private static String resource(String name) {
		return Resources.text(JdbcStatements.class, name + ".sql");
	}

	/**
	 * Returns statements that change nothing, but fail without the rights of the others.
	 */
	List<String> probesOfRights() {
		return List.of(text("probe-rights").split(";"));
	}

	/**
	 * Makes one attempt of a claim for an exclusive lock.
	 * @param sticky whether the instance expects the demand for the lease
	 */
	Attempt acquire(Connection connection, Claim claim, boolean sticky, ClaimParameters parameters)
			throws SQLException {
		boolean waits = !claim.remainingWait().isZero();
		DirectStatement statement = sticky ? (waits ? this.acquireSticky : this.acquireStickyOrDemand)
				: (waits ? this.acquire : this.acquireOrDemand);
		Attempt attempt = statement.first(connection, parameters::getValue,
				(row) -> Attempt.of(row.getString(1).equals(claim.owner().value()), row.getLong(2)));
		return (attempt != null) ? attempt : Attempt.REJECTED;
	}

	/**
	 * Releases an exclusive lock, and notifies other instances if the database supports
	 * it. Returns whether there was a lease to release.
	 */
	boolean release(Connection connection, ClaimParameters parameters) throws SQLException {
		return ended(this.release, connection, parameters::getValue);
	}

	/**
	 * Releases an exclusive lock by force. If its lease is sticky and the database
	 * supports it, demands the lease in the same statement. Returns whether there was a
	 * lease to release.
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
		Announced announced = this.markWaiter.first(connection, parameters::getValue,
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
	 * The result of one attempt for an exclusive lock.
	 *
	 * @param token the token, or zero if it was rejected
	 * @param wanted whether other claims wait for the lease, which is sticky, or the
	 * sticky lease that rejects the claim was demanded
	 */
	record Attempt(long token, boolean wanted) {

		private static final Attempt REJECTED = new Attempt(0, false);

		private static Attempt of(boolean granted, long number) {
			return new Attempt(granted ? Math.abs(number) : 0, number < 0);
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
