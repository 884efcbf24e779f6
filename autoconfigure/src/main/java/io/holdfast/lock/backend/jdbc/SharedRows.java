package io.holdfast.lock.backend.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

import org.springframework.jdbc.core.namedparam.NamedParameterJdbcOperations;

/**
 * Statements for shared locks. Each reader has a row of its own. The lock's row contains
 * when the last reader's lease expires, so a writer checks only that row. Every change of
 * readers locks that row.
 */
final class SharedRows {

	private SharedRows() {
	}

	/**
	 * Acquires a shared lock, unless a writer holds the lock, or waits for it and this
	 * reader does not hold it yet.
	 * @return its token, or zero
	 */
	static long acquire(JdbcConnections connections, JdbcStatements sql, Map<String, Object> parameters)
			throws SQLException {
		Optional<Long> token = tryAcquire(connections, sql, parameters);
		if (token.isEmpty()) {
			insertRow(connections, sql, parameters);
			token = tryAcquire(connections, sql, parameters);
		}
		return token.orElse(0L);
	}

	/**
	 * Inserts the lock's row in a transaction of its own. In the transaction that then
	 * locks the row, concurrent inserts of the same row would deadlock.
	 */
	private static void insertRow(JdbcConnections connections, JdbcStatements sql, Map<String, Object> parameters)
			throws SQLException {
		try {
			connections.single((jdbc) -> jdbc.update(sql.insertRow, parameters));
		}
		catch (SQLException ex) {
			// a concurrent transaction has inserted the row, which is sufficient
			if (!JdbcErrors.duplicate(ex)) {
				throw ex;
			}
		}
	}

	/** Returns an empty result if the lock has no row yet. */
	private static Optional<Long> tryAcquire(JdbcConnections connections, JdbcStatements sql,
			Map<String, Object> parameters) throws SQLException {
		return connections.together((jdbc) -> {
			lockRow(jdbc, sql, parameters);
			Optional<Long> token = jdbc.query(sql.readState, parameters, (row, number) -> nextToken(row))
				.stream()
				.findFirst();
			if (token.orElse(0L) > 0) {
				Map<String, Object> reader = new HashMap<>(parameters);
				reader.put("token", token.get());
				jdbc.update(sql.forgetReaders, reader);
				jdbc.update(sql.insertReader, reader);
				jdbc.update(sql.admitReaders, reader);
			}
			return token;
		});
	}

	private static long nextToken(ResultSet row) throws SQLException {
		long own = row.getLong("own");
		if (row.getInt("written") == 1) {
			return 0;
		}
		if (own > 0) {
			return own;
		}
		return (row.getInt("wanted") == 1) ? 0 : Math.max(row.getLong("token") + 1, row.getLong("now_us"));
	}

	static boolean release(JdbcConnections connections, JdbcStatements sql, Map<String, Object> parameters)
			throws SQLException {
		return changeOwn(connections, sql, parameters, (jdbc) -> {
			sql.notifyWaiters(jdbc, parameters);
			return jdbc.update(sql.deleteReader, parameters);
		});
	}

	static void abandon(JdbcConnections connections, JdbcStatements sql, Map<String, Object> parameters)
			throws SQLException {
		connections.together((jdbc) -> {
			lockRow(jdbc, sql, parameters);
			sql.notifyWaiters(jdbc, parameters);
			jdbc.update(sql.forgetReaders, parameters);
			return jdbc.update(sql.admitReaders, parameters);
		});
	}

	/**
	 * Changes this reader's row. If a writer holds the lock, the reader's lease has
	 * expired, although it may seem valid at a time older than the writer's. Then nothing
	 * changes.
	 */
	private static boolean changeOwn(JdbcConnections connections, JdbcStatements sql, Map<String, Object> parameters,
			JdbcConnections.Work<Integer> change) throws SQLException {
		return connections.together((jdbc) -> {
			if (lockRow(jdbc, sql, parameters) || change.run(jdbc) == 0) {
				return false;
			}
			jdbc.update(sql.admitReaders, parameters);
			return true;
		});
	}

	/**
	 * Locks the lock's row, if there is one.
	 * @return whether a writer holds the lock
	 */
	private static boolean lockRow(NamedParameterJdbcOperations jdbc, JdbcStatements sql,
			Map<String, Object> parameters) {
		return jdbc.query(sql.lockRow, parameters, (row, number) -> row.getInt(1) == 1).contains(true);
	}

}
