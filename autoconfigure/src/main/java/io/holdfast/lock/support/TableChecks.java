package io.holdfast.lock.support;

import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Checks whether a table lets only one of two concurrent owners pass: it needs a unique
 * key, and in MariaDB and MySQL a storage engine with transactions.
 */
public final class TableChecks {

	private static final String H2 = "H2";

	private static final String NOT_TRANSACTIONAL = """
			SELECT MAX(t.engine) FROM information_schema.tables t
			JOIN information_schema.engines e ON e.engine = t.engine
			WHERE t.table_schema = COALESCE(?, DATABASE()) AND t.table_name = ? AND COALESCE(e.transactions, 'NO') <> 'YES'
			""";

	/**
	 * An expression is no column, and a prefix no value of one. Statements name the index
	 * by which they find rows.
	 */
	private static final String KEYS_IN_MARIADB = """
			SELECT GROUP_CONCAT(LOWER(column_name) ORDER BY column_name) FROM information_schema.statistics
			WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND index_name = 'PRIMARY'
			HAVING COUNT(*) = COUNT(column_name) AND COUNT(sub_part) = 0
			""";

	/** A deferred key allows two rows until the commit. */
	private static final String KEYS_IN_POSTGRESQL = """
			SELECT string_agg(a.attname, ',' ORDER BY a.attname) FROM pg_index i JOIN pg_attribute a
			ON a.attrelid = i.indrelid AND a.attnum = ANY((CAST(i.indkey AS int2[]))[0:i.indnkeyatts - 1])
			WHERE i.indrelid = to_regclass(COALESCE(? || '.', '') || ?)
			AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
			GROUP BY i.indexrelid
			""";

	private static final Map<String, String> KEYS = Map.of("MariaDB", KEYS_IN_MARIADB, "MySQL", KEYS_IN_MARIADB,
			"PostgreSQL", KEYS_IN_POSTGRESQL);

	private TableChecks() {
	}

	/**
	 * Returns why two owners could pass a table at once. Tables of databases other than
	 * H2, PostgreSQL, MariaDB and MySQL are not checked.
	 * @param jdbc asks the database
	 * @param table the name of the table, with or without its schema
	 * @param key the columns of the unique key in alphabetical order, such as
	 * {@code lock_id,owner}
	 * @return the problem and the remedy, or {@code null}
	 */
	public static @Nullable String problem(JdbcOperations jdbc, String table, String key) {
		String product = String.valueOf(jdbc
			.execute((ConnectionCallback<String>) (connection) -> connection.getMetaData().getDatabaseProductName()));
		String query = KEYS.get(product);
		if (query == null && !product.equals(H2)) {
			return null;
		}
		int dot = table.indexOf('.');
		@Nullable String[] name = { (dot > 0) ? table.substring(0, dot) : null, table.substring(dot + 1) };
		String engine = KEYS_IN_MARIADB.equals(query)
				? jdbc.queryForObject(NOT_TRANSACTIONAL, String.class, (Object[]) name) : null;
		if (engine != null) {
			return "the table '%s' has the storage engine '%s', which has no transactions, so two owners could pass at once. Run 'ALTER TABLE %s ENGINE = InnoDB'."
				.formatted(table, engine, table);
		}
		boolean unique = (query != null) ? jdbc.queryForList(query, String.class, (Object[]) name).contains(key)
				: keysInH2(jdbc, name).contains(key);
		return unique ? null
				: "the table '%s' has no %s (%s), or a deferrable one, so two owners could pass at once. Create it as in the script 'schema.sql' of this library."
					.formatted(table, KEYS_IN_MARIADB.equals(query) ? "primary key" : "unique key", key);
	}

	/**
	 * Returns the keys of a table in H2. They are not queried, because the information
	 * schema depends on the setting OLD_INFORMATION_SCHEMA of the connection. H2 may
	 * change the case of names.
	 */
	private static List<String> keysInH2(JdbcOperations jdbc, @Nullable String[] name) {
		ConnectionCallback<List<String>> keys = (connection) -> {
			String schema = (name[0] != null) ? name[0] : connection.getSchema();
			Map<String, SortedSet<String>> columns = new HashMap<>();
			try (ResultSet tables = connection.getMetaData().getTables(null, null, "%", null)) {
				while (tables.next()) {
					if (tables.getString("TABLE_SCHEM").equalsIgnoreCase(schema)
							&& tables.getString("TABLE_NAME").equalsIgnoreCase(name[1])) {
						columns.putAll(columnsInH2(connection.getMetaData(), tables));
					}
				}
			}
			return columns.values().stream().map((of) -> String.join(",", of)).toList();
		};
		return Objects.requireNonNull(jdbc.execute(keys));
	}

	/** Returns the columns of the unique keys of one table. */
	private static Map<String, SortedSet<String>> columnsInH2(DatabaseMetaData metaData, ResultSet table)
			throws SQLException {
		Map<String, SortedSet<String>> columns = new HashMap<>();
		try (ResultSet indexes = metaData.getIndexInfo(table.getString("TABLE_CAT"), table.getString("TABLE_SCHEM"),
				table.getString("TABLE_NAME"), true, true)) {
			while (indexes.next()) {
				columns.computeIfAbsent(indexes.getString("INDEX_NAME"), (index) -> new TreeSet<>())
					.add(indexes.getString("COLUMN_NAME").toLowerCase(Locale.ROOT));
			}
		}
		return columns;
	}

}
