package io.holdfast.lock.support;

import java.util.Map;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcOperations;

/**
 * Checks whether a table lets only one of two concurrent owners pass: it needs a unique
 * key, and in MariaDB and MySQL a storage engine with transactions.
 */
public final class TableChecks {

	private static final String NOT_TRANSACTIONAL = """
			SELECT MAX(t.engine) FROM information_schema.tables t
			JOIN information_schema.engines e ON e.engine = t.engine
			WHERE t.table_schema = COALESCE(?, DATABASE()) AND t.table_name = ? AND COALESCE(e.transactions, 'NO') <> 'YES'
			""";

	/** An expression is no column. */
	private static final String KEYS_IN_MARIADB = """
			SELECT GROUP_CONCAT(LOWER(column_name) ORDER BY column_name) FROM information_schema.statistics
			WHERE table_schema = COALESCE(?, DATABASE()) AND table_name = ? AND non_unique = 0 GROUP BY index_name
			HAVING COUNT(*) = COUNT(column_name)
			""";

	/** A deferred key allows two rows until the commit. */
	private static final String KEYS_IN_POSTGRESQL = """
			SELECT string_agg(a.attname, ',' ORDER BY a.attname) FROM pg_index i JOIN pg_attribute a
			ON a.attrelid = i.indrelid AND a.attnum = ANY((CAST(i.indkey AS int2[]))[0:i.indnkeyatts - 1])
			WHERE i.indrelid = to_regclass(COALESCE(? || '.', '') || ?)
			AND i.indisunique AND i.indimmediate AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
			GROUP BY i.indexrelid
			""";

	/** In capitals, in which H2 finds its own names whatever it does to their case. */
	private static final String KEYS_IN_H2 = """
			SELECT LISTAGG(LOWER(COLUMN_NAME), ',') WITHIN GROUP (ORDER BY COLUMN_NAME)
			FROM INFORMATION_SCHEMA.INDEX_COLUMNS
			WHERE UPPER(TABLE_SCHEMA) = UPPER(COALESCE(?, SCHEMA())) AND UPPER(TABLE_NAME) = UPPER(?) AND IS_UNIQUE
			GROUP BY INDEX_NAME
			""";

	private static final Map<String, String> KEYS = Map.of("MariaDB", KEYS_IN_MARIADB, "MySQL", KEYS_IN_MARIADB,
			"PostgreSQL", KEYS_IN_POSTGRESQL, "H2", KEYS_IN_H2);

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
		String keys = KEYS.get(product);
		if (keys == null) {
			return null;
		}
		int dot = table.indexOf('.');
		Object[] name = { (dot > 0) ? table.substring(0, dot) : null, table.substring(dot + 1) };
		String engine = keys.equals(KEYS_IN_MARIADB) ? jdbc.queryForObject(NOT_TRANSACTIONAL, String.class, name)
				: null;
		if (engine != null) {
			return "the table '%s' has the storage engine '%s', which has no transactions, so two owners could pass at once. Run 'ALTER TABLE %s ENGINE = InnoDB'."
				.formatted(table, engine, table);
		}
		return jdbc.queryForList(keys, String.class, name).contains(key) ? null
				: "the table '%s' has no unique key (%s), or a deferrable one, so two owners could pass at once. Create it as in the script 'schema.sql' of this library."
					.formatted(table, key);
	}

}
