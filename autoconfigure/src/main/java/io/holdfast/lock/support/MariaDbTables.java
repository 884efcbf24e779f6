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

	private static final String UNIQUE_KEYS = """
			SELECT GROUP_CONCAT(LOWER(column_name) ORDER BY column_name) FROM information_schema.statistics
			WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND non_unique = 0 GROUP BY index_name
			""";

	private MariaDbTables() {
	}

	/**
	 * Returns why a table cannot be used: it has no transactions, or no unique key, so
	 * that each claim would insert a row of its own. Tables of other databases are not
	 * checked.
	 * @param jdbc asks the database
	 * @param table the name of the table, with or without its schema
	 * @param key the columns of the unique key in alphabetical order, such as
	 * {@code lock_id,owner}
	 * @return the problem and the remedy, or {@code null}
	 */
	public static @Nullable String problem(JdbcOperations jdbc, String table, String key) {
		if (!Boolean.TRUE.equals(jdbc.execute((ConnectionCallback<Boolean>) MariaDbTables::isChecked))) {
			return null;
		}
		int dot = table.indexOf('.');
		Object[] name = { (dot > 0) ? table.substring(0, dot) : null, table.substring(dot + 1) };
		String engine = jdbc.queryForObject(NOT_TRANSACTIONAL, String.class, name);
		if (engine != null) {
			return "the table '%s' has the storage engine '%s', which has no transactions, so two owners could pass at once. Run 'ALTER TABLE %s ENGINE = InnoDB'."
				.formatted(table, engine, table);
		}
		return jdbc.queryForList(UNIQUE_KEYS, String.class, name).contains(key) ? null
				: "the table '%s' has no unique key (%s), so two owners could pass at once. Create it as in the script 'schema.sql' of this library."
					.formatted(table, key);
	}

	private static boolean isChecked(Connection connection) throws SQLException {
		return Set.of("MariaDB", "MySQL").contains(connection.getMetaData().getDatabaseProductName());
	}

}
