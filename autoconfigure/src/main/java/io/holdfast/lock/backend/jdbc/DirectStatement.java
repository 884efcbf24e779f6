package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

/**
 * A statement that every acquisition or release executes. Its named parameters are
 * replaced by positions once, not for each execution as in a template. Its text is always
 * the same instance, by which drivers find the statement that they have already prepared.
 *
 * @param text the statement with positional parameters
 * @param names the names of the parameters in the order of their positions
 * @param timeoutSeconds the timeout of the driver, or zero for none
 */
record DirectStatement(String text, List<String> names, int timeoutSeconds) {

	/** Matches no cast of PostgreSQL and no time of day. */
	private static final Pattern PARAMETER = Pattern.compile("(?<!:):([a-z]+)");

	/** Creates a statement from a text with named parameters. */
	static DirectStatement of(String named, int timeoutSeconds) {
		List<String> names = PARAMETER.matcher(named).results().map((MatchResult found) -> found.group(1)).toList();
		return new DirectStatement(PARAMETER.matcher(named).replaceAll("?"), names, timeoutSeconds);
	}

	/** Executes the statement and returns the number of changed rows. */
	int update(Connection connection, Function<String, ? extends @Nullable Object> parameters) throws SQLException {
		try (PreparedStatement statement = prepare(connection, parameters)) {
			return statement.executeUpdate();
		}
	}

	/** Executes the statement and returns its first row, or {@code null} without rows. */
	<T> @Nullable T first(Connection connection, Function<String, ? extends @Nullable Object> parameters, Row<T> row)
			throws SQLException {
		try (PreparedStatement statement = prepare(connection, parameters);
				ResultSet results = statement.executeQuery()) {
			return results.next() ? row.of(results) : null;
		}
	}

	/** Executes the statement and returns the number that the database has generated. */
	Generated generated(Connection connection, Function<String, ? extends @Nullable Object> parameters)
			throws SQLException {
		try (PreparedStatement statement = prepared(
				connection.prepareStatement(this.text, Statement.RETURN_GENERATED_KEYS), parameters)) {
			int rows = statement.executeUpdate();
			try (ResultSet keys = statement.getGeneratedKeys()) {
				return new Generated(rows, keys.next() ? keys.getLong(1) : 0);
			}
		}
	}

	/** Prepares an execution, which the caller must close. */
	PreparedStatement prepare(Connection connection, Function<String, ? extends @Nullable Object> parameters)
			throws SQLException {
		return prepared(connection.prepareStatement(this.text), parameters);
	}

	private PreparedStatement prepared(PreparedStatement statement,
			Function<String, ? extends @Nullable Object> parameters) throws SQLException {
		try {
			if (this.timeoutSeconds > 0) {
				statement.setQueryTimeout(this.timeoutSeconds);
			}
			for (int i = 0; i < this.names.size(); i++) {
				statement.setObject(i + 1, parameters.apply(this.names.get(i)));
			}
			return statement;
		}
		catch (SQLException | RuntimeException ex) {
			try (statement) {
				throw ex;
			}
		}
	}

	/**
	 * What a change has generated.
	 *
	 * @param rows the number of changed rows
	 * @param number the generated number, or zero if there is none
	 */
	record Generated(int rows, long number) {
	}

	/**
	 * Reads a row.
	 *
	 * @param <T> the result
	 */
	@FunctionalInterface
	interface Row<T> {

		T of(ResultSet row) throws SQLException;

	}

}
