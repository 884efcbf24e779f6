package io.holdfast.lock.backend.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;

import io.holdfast.lock.support.SqlStates;

/**
 * Statements for a shared lock. Each reader has a row of its own. The lock's row contains
 * when the last reader's lease expires, so a writer checks only that row. Every change of
 * readers locks that row.
 *
 * @param connections provides the connections
 * @param sql the statements
 * @param parameters the parameters of one claim or grant
 */
record SharedRows(JdbcConnections connections, JdbcStatements sql, ClaimParameters parameters) {

	/**
	 * Acquires a shared lock, unless a writer holds the lock, or waits for it and this
	 * reader does not hold it yet.
	 * @param announce whether a rejected reader waits
	 */
	Attempt acquire(boolean announce) throws SQLException {
		Optional<Attempt> attempt = tryAcquire(announce);
		if (attempt.isEmpty()) {
			insertRow();
			attempt = tryAcquire(announce);
		}
		return attempt.orElse(Attempt.REJECTED);
	}

	/**
	 * Inserts the lock's row in a transaction of its own. In the transaction that then
	 * locks the row, concurrent inserts of the same row would deadlock.
	 */
	private void insertRow() throws SQLException {
		try {
			this.connections.direct((connection) -> this.sql.insertRow(connection, this.parameters));
		}
		catch (SQLException ex) {
			// a concurrent transaction has inserted the row, which is sufficient
			if (!JdbcErrors.isDuplicate(ex) && !SqlStates.isChangedSinceSnapshot(ex)) {
				throw ex;
			}
		}
	}

	/**
	 * Returns an empty result if the lock has no row yet. If the row appears only after
	 * that, it is not locked, and a writer could acquire the lock beside this reader.
	 */
	private Optional<Attempt> tryAcquire(boolean announce) throws SQLException {
		return notifying((jdbc, notification) -> {
			if (lockRow(jdbc).isEmpty()) {
				return Optional.empty();
			}
			Optional<Attempt> attempt = jdbc
				.query(this.sql.readState, this.parameters,
						(row, number) -> new Attempt(nextToken(row), row.getInt("kept") == 1,
								row.getInt("written") == 2))
				.stream()
				.findFirst();
			if (attempt.isPresent() && attempt.get().token() > 0) {
				admit(jdbc, attempt.get(), notification);
			}
			else if (attempt.isPresent() && announce) {
				JdbcStatements.Announced announced = this.sql.announceReader(jdbc, this.parameters);
				return Optional.of(new Attempt(0, announced.first(), announced.demanded()));
			}
			return attempt;
		});
	}

	/**
	 * Inserts this reader. Other readers that wait may join it, but a release that has
	 * kept the lock for this reader has notified them too early.
	 */
	private void admit(NamedParameterJdbcOperations jdbc, Attempt granted, Runnable notification) {
		ClaimParameters reader = this.parameters.withToken(granted.token());
		jdbc.update(this.sql.forgetReaders, reader);
		jdbc.update(this.sql.insertReader, reader);
		jdbc.update(this.sql.admitReaders, reader);
		if (granted.first()) {
			notification.run();
		}
	}

	private static long nextToken(ResultSet row) throws SQLException {
		long own = row.getLong("own");
		if (row.getInt("written") > 0) {
			return 0;
		}
		if (own > 0) {
			return own;
		}
		return (row.getInt("wanted") == 1) ? 0 : Math.max(row.getLong("token") + 1, row.getLong("now_us"));
	}

	/**
	 * Deletes this reader's row. If a writer holds the lock, the reader's lease has
	 * expired, although it may seem valid at a time older than the writer's. Then nothing
	 * changes.
	 * @return whether the reader held the lock
	 */
	boolean release() throws SQLException {
		return notifying((jdbc, notification) -> {
			if (lockRow(jdbc).contains(true)) {
				return false;
			}
			// the database notifies at the commit, and only then
			notification.run();
			if (jdbc.update(this.sql.deleteReader, this.parameters) == 0) {
				return false;
			}
			jdbc.update(this.sql.admitReaders, this.parameters);
			return true;
		});
	}

	/** Deletes this reader's row, whatever it contains. */
	void abandon() throws SQLException {
		notifying((jdbc, notification) -> {
			lockRow(jdbc);
			notification.run();
			jdbc.update(this.sql.forgetReaders, this.parameters);
			return jdbc.update(this.sql.admitReaders, this.parameters);
		});
	}

	/**
	 * Runs work that notifies waiters, and repeats it without the notification if the
	 * database cannot store it: waiters then poll.
	 */
	private <T> T notifying(BiFunction<NamedParameterJdbcOperations, Runnable, T> work) throws SQLException {
		try {
			return this.connections
				.together((jdbc) -> work.apply(jdbc, () -> this.sql.notifyWaiters(jdbc, this.parameters)));
		}
		catch (SQLException ex) {
			if (!JdbcErrors.isNotificationRejected(ex)) {
				throw ex;
			}
			return this.connections.together((jdbc) -> work.apply(jdbc, () -> {
			}));
		}
	}

	/**
	 * Locks the lock's row, if there is one.
	 * @return whether a writer holds the lock, or an empty list without a row
	 */
	private List<Boolean> lockRow(NamedParameterJdbcOperations jdbc) {
		return jdbc.query(this.sql.lockRow, this.parameters, (row, number) -> row.getInt(1) == 1);
	}

	/**
	 * The result of one attempt.
	 *
	 * @param token the token, or zero if it was rejected
	 * @param first whether the reader is, or was, the first waiter
	 * @param demanded whether the sticky lease of a writer was demanded
	 */
	record Attempt(long token, boolean first, boolean demanded) {

		private static final Attempt REJECTED = new Attempt(0, false, false);

	}

}
