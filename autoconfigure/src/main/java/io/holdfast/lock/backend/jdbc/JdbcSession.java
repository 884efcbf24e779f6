package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.namedparam.MapSqlParameterSource;
import org.springframework.jdbc.core.namedparam.NamedParameterUtils;
import org.springframework.jdbc.core.namedparam.ParsedSql;

/**
 * Runs statements on one connection, which is independent of any transaction of the
 * caller.
 */
final class JdbcSession {

	private final Connection connection;

	/** In seconds; zero for none. */
	private final int timeoutSeconds;

	JdbcSession(Connection connection, int timeoutSeconds) {
		this.connection = connection;
		this.timeoutSeconds = timeoutSeconds;
	}

	int update(ParsedSql sql, Map<String, ?> parameters) throws SQLException {
		try (PreparedStatement statement = prepare(sql, parameters)) {
			return statement.executeUpdate();
		}
	}

	/** Releases a lock. Returns whether there was a lease to release. */
	boolean release(JdbcStatements sql, Map<String, ?> parameters) throws SQLException {
		return (sql.notify != null) ? first(sql.release, parameters, (row) -> true).isPresent()
				: update(sql.release, parameters) == 1;
	}

	/**
	 * Notifies other instances that the lock may be free, if the database supports it.
	 */
	void notifyWaiters(JdbcStatements sql, Map<String, ?> parameters) throws SQLException {
		if (sql.notify != null) {
			first(sql.notify, parameters, (row) -> true);
		}
	}

	/** Returns what the row reader returns for the first row, if there is one. */
	<T> Optional<T> first(ParsedSql sql, Map<String, ?> parameters, RowReader<T> reader) throws SQLException {
		try (PreparedStatement statement = prepare(sql, parameters); ResultSet rows = statement.executeQuery()) {
			return rows.next() ? Optional.of(reader.read(rows)) : Optional.empty();
		}
	}

	/** Returns what the row reader returns for each row. */
	<T> List<T> all(ParsedSql sql, Map<String, ?> parameters, RowReader<T> reader) throws SQLException {
		try (PreparedStatement statement = prepare(sql, parameters); ResultSet rows = statement.executeQuery()) {
			List<T> all = new ArrayList<>();
			while (rows.next()) {
				all.add(reader.read(rows));
			}
			return all;
		}
	}

	private PreparedStatement prepare(ParsedSql sql, Map<String, ?> parameters) throws SQLException {
		MapSqlParameterSource source = new MapSqlParameterSource(parameters);
		PreparedStatement statement = this.connection
			.prepareStatement(NamedParameterUtils.substituteNamedParameters(sql, source));
		if (this.timeoutSeconds > 0) {
			statement.setQueryTimeout(this.timeoutSeconds);
		}
		int next = 1;
		for (Object value : NamedParameterUtils.buildValueArray(sql, source, null)) {
			next = set(statement, next, value);
		}
		return statement;
	}

	/**
	 * Sets the parameters of one name: a value, or all values of a list, whose elements
	 * may be rows.
	 * @return the index after them
	 */
	private static int set(PreparedStatement statement, int index, @Nullable Object value) throws SQLException {
		if (!(value instanceof Collection || value instanceof Object[])) {
			statement.setObject(index, value);
			return index + 1;
		}
		int next = index;
		for (Object element : (value instanceof Collection<?> list) ? list : List.of((Object[]) value)) {
			next = set(statement, next, element);
		}
		return next;
	}

	/**
	 * Reads one row.
	 *
	 * @param <T> the type of the value
	 */
	@FunctionalInterface
	interface RowReader<T> {

		T read(ResultSet row) throws SQLException;

	}

}
