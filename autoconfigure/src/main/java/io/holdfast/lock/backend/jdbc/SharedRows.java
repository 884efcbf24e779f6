package io.holdfast.lock.backend.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/**
 * What readers do: each has a row of its own, and the lock's row says until when the last
 * of them reads, so that a writer needs to look at that one row only. Whatever changes
 * readers holds the lock of that row meanwhile.
 */
final class SharedRows {

	private SharedRows() {
	}

	/**
	 * Admit a reader, unless somebody writes, or waits to write and this one does not
	 * read yet.
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
	 * In a transaction of its own: in the one that then locks the row, those who insert
	 * the same row would wait for each other in a circle.
	 */
	private static void insertRow(JdbcConnections connections, JdbcStatements sql, Map<String, Object> parameters)
			throws SQLException {
		try {
			connections.single((session) -> session.update(sql.insertRow, parameters));
		}
		catch (SQLException ex) {
			// that it is there now, by whomever, is all that is wanted
			if (!JdbcErrors.duplicate(ex)) {
				throw ex;
			}
		}
	}

	/** Nothing if the lock has no row yet. */
	private static Optional<Long> tryAcquire(JdbcConnections connections, JdbcStatements sql,
			Map<String, Object> parameters) throws SQLException {
		return connections.together((session) -> {
			lockRow(session, sql, parameters);
			Optional<Long> token = session.first(sql.readState, parameters, SharedRows::nextToken);
			if (token.orElse(0L) > 0) {
				Map<String, Object> reader = new HashMap<>(parameters);
				reader.put("token", token.get());
				session.update(sql.forgetReaders, reader);
				session.update(sql.insertReader, reader);
				session.update(sql.admitReaders, reader);
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
		return changeOwn(connections, sql, parameters, (session) -> {
			session.tell(sql, parameters);
			return session.update(sql.deleteReader, parameters);
		});
	}

	static void abandon(JdbcConnections connections, JdbcStatements sql, Map<String, Object> parameters)
			throws SQLException {
		connections.together((session) -> {
			lockRow(session, sql, parameters);
			session.tell(sql, parameters);
			session.update(sql.forgetReaders, parameters);
			return session.update(sql.admitReaders, parameters);
		});
	}

	/**
	 * Change what is this reader's. Where somebody writes, nothing is: the reader's lease
	 * has ended, although by an older time than the writer's it may seem to last.
	 */
	private static boolean changeOwn(JdbcConnections connections, JdbcStatements sql, Map<String, Object> parameters,
			JdbcConnections.Work<Integer> change) throws SQLException {
		return connections.together((session) -> {
			if (lockRow(session, sql, parameters) || change.run(session) == 0) {
				return false;
			}
			session.update(sql.admitReaders, parameters);
			return true;
		});
	}

	/**
	 * Locks the lock's row, if there is one.
	 * @return whether a writer holds the lock
	 */
	private static boolean lockRow(JdbcSession session, JdbcStatements sql, Map<String, Object> parameters)
			throws SQLException {
		return session.first(sql.lockRow, parameters, (row) -> row.getInt(1) == 1).orElse(false);
	}

}
