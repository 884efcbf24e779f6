package io.holdfast.lock.support;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Checks tables of MariaDB and MySQL, whose storage engines may lack transactions and row
 * locks.
 */
public final class MariaDbTables {

	private static final String NOT_TRANSACTIONAL = """
			SELECT MAX(t.engine) FROM information_schema.tables t
			JOIN information_schema.engines e ON e.engine = t.engine
			WHERE t.table_schema = COALESCE(?, DATABASE()) AND t.table_name = ? AND COALESCE(e.transactions, 'NO') <> 'YES'
			""";

	private MariaDbTables() {
	}

	/**
	 * Returns why a table cannot be used, if it has no transactions. Tables of other
	 * databases always have.
	 * @param jdbc asks the database
	 * @param table the name of the table, with or without its schema
	 * @return the problem and the remedy, or {@code null}
	 */
	public static @Nullable String problem(JdbcOperations jdbc, String table) {
		if (!Boolean.TRUE.equals(jdbc.execute((ConnectionCallback<Boolean>) MariaDbTables::hasEngines))) {
			return null;
		}
		int dot = table.indexOf('.');
		String engine = jdbc.queryForObject(NOT_TRANSACTIONAL, String.class, (dot > 0) ? table.substring(0, dot) : null,
				table.substring(dot + 1));
		return (engine == null) ? null
				: "the table '%s' has the storage engine '%s', which has no transactions, so two owners could pass at once. Run 'ALTER TABLE %s ENGINE = InnoDB'."
					.formatted(table, engine, table);
	}

	private static boolean hasEngines(Connection connection) throws SQLException {
		return Set.of("MariaDB", "MySQL").contains(connection.getMetaData().getDatabaseProductName());
	}

}
