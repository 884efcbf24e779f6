package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Collections;
import java.util.List;
import java.util.Locale;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcOperations;

import io.holdfast.lock.spi.LockDigest;
import io.holdfast.lock.support.Resources;

/**
 * The statements with which a database advances fences: a single statement for all of
 * them if the database supports it.
 */
enum FenceSql {

	/** The update count includes exactly the rows that were inserted or advanced. */
	POSTGRESQL("(?, ?, ?, ?)", "FOR SHARE") {

		@Override
		String database(Connection connection, String table) throws SQLException {
			return text(connection, "SELECT " + POSTGRESQL_TABLE.formatted("to_regclass('%s')::oid".formatted(table)));
		}

		/** The transaction may have changed its search path since it has passed. */
		@Override
		boolean hasPassed(Connection connection, String table, String database) throws SQLException {
			return "1".equals(text(connection,
					"SELECT count(DISTINCT relation) FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'relation' AND mode IN ('RowShareLock', 'RowExclusiveLock') AND %s = '%s'"
						.formatted(POSTGRESQL_TABLE.formatted("relation"), database.replace("'", "''"))));
		}

		@Override
		boolean tellsServers() {
			return true;
		}

		@Override
		boolean continuesAfterRollback() {
			return false;
		}

		@Override
		boolean advance(JdbcOperations jdbc, String table, List<FenceEntry> entries) {
			return jdbc.update(statement(table, entries), parameters(entries)) == entries.size();
		}

	},

	/** Counts rows like PostgreSQL; has no shared row locks. */
	H2("(CAST(? AS VARCHAR), CAST(? AS VARCHAR), CAST(? AS BIGINT), CAST(? AS VARCHAR))", "FOR UPDATE") {

		@Override
		String database(Connection connection, String table) throws SQLException {
			return text(connection, "SELECT CONCAT_WS(' ', DATABASE_PATH(), CURRENT_CATALOG, %s)"
				.formatted(table.contains(".") ? "''" : "CURRENT_SCHEMA"));
		}

		@Override
		boolean advance(JdbcOperations jdbc, String table, List<FenceEntry> entries) {
			try {
				return jdbc.update(statement(table, entries), parameters(entries)) == entries.size();
			}
			catch (DuplicateKeyException ex) {
				// another transaction has inserted a row meanwhile, which can now be
				// compared
				return jdbc.update(statement(table, entries), parameters(entries)) == entries.size();
			}
		}

	},

	/**
	 * Returns the resulting rows, because the update counts depend on a driver setting.
	 */
	MARIADB("(?, ?, ?, ?)", "LOCK IN SHARE MODE") {

		@Override
		boolean advance(JdbcOperations jdbc, String table, List<FenceEntry> entries) {
			List<RecordedHolder> seen = jdbc.query(statement(table, entries), (row, number) -> RecordedHolder.of(row),
					parameters(entries));
			return seen.stream().allMatch((now) -> entries.stream().anyMatch(now::isBy));
		}

	},

	/**
	 * Reads the resulting rows, for the same reason. An UPDATE of a missing row, as
	 * below, would lock a gap, and first holders of different locks would deadlock.
	 */
	MYSQL("(?, ?, ?, ?)", "LOCK IN SHARE MODE") {

		@Override
		boolean advance(JdbcOperations jdbc, String table, List<FenceEntry> entries) {
			jdbc.update(statement(table, entries), parameters(entries));
			List<RecordedHolder> seen = kept(jdbc, table, entries);
			return entries.stream().allMatch((entry) -> seen.stream().anyMatch((now) -> now.isBy(entry)));
		}

	},

	/** Works with every database: one statement for each fence that exists. */
	ANY("", "") {

		/** The schema in the name of the table is one of the catalog. */
		@Override
		@Nullable String database(Connection connection, String table) throws SQLException {
			return connection.getCatalog();
		}

		/** Locks the rows first, because not every database knows FOR UPDATE. */
		@Override
		List<RecordedHolder> kept(JdbcOperations jdbc, String table, List<FenceEntry> entries) {
			jdbc.update("UPDATE " + table + " SET token = token WHERE lock_id IN (" + placeholders(entries) + ")",
					ids(entries));
			return super.kept(jdbc, table, entries);
		}

		@Override
		boolean advance(JdbcOperations jdbc, String table, List<FenceEntry> entries) {
			return entries.stream().allMatch((entry) -> advance(jdbc, table, entry));
		}

		private boolean advance(JdbcOperations jdbc, String table, FenceEntry entry) {
			return update(jdbc, table, entry) || insertOrUpdate(jdbc, table, entry);
		}

		private boolean update(JdbcOperations jdbc, String table, FenceEntry entry) {
			return jdbc.update(statement(table, List.of(entry)), entry.token(), entry.owner(), entry.id(),
					entry.token(), entry.token(), entry.owner()) > 0;
		}

		private boolean insertOrUpdate(JdbcOperations jdbc, String table, FenceEntry entry) {
			try {
				FenceSql.insert(jdbc, table, entry);
				return true;
			}
			catch (DuplicateKeyException ex) {
				// the fence rejected the holder, or another transaction has inserted the
				// row meanwhile
				return update(jdbc, table, entry);
			}
		}

	};

	private static final String POSTGRESQL_TABLE = "concat_ws(' ', EXTRACT(EPOCH FROM pg_postmaster_start_time()), current_database(), %s)";

	private static final int NAME_LENGTH = 255;

	private final String advance;

	private final String row;

	private final String sharedRow;

	FenceSql(String row, String sharedRow) {
		this.advance = Resources.text(FenceSql.class, "advance-" + name().toLowerCase(Locale.ROOT) + ".sql").strip();
		this.row = row;
		this.sharedRow = sharedRow;
	}

	static FenceSql of(String product) {
		String name = product.toLowerCase(Locale.ROOT);
		if (name.contains("postgresql")) {
			return POSTGRESQL;
		}
		if (name.contains("mariadb")) {
			return MARIADB;
		}
		if (name.contains("mysql")) {
			return MYSQL;
		}
		return name.equals("h2") ? H2 : ANY;
	}

	static void insert(JdbcOperations jdbc, String table, FenceEntry entry) {
		jdbc.update("INSERT INTO " + table + " (lock_id, lock_name, token, owner) VALUES (?, ?, ?, ?)",
				parameters(List.of(entry)));
	}

	/**
	 * Whether the database begins another transaction with the next statement after it
	 * has rolled back one by itself, such as the victim of a deadlock.
	 */
	boolean continuesAfterRollback() {
		return true;
	}

	/**
	 * Returns what distinguishes the table to which a connection leads from another one
	 * with the same name, in another schema or another database. It never distinguishes a
	 * table from itself.
	 */
	@Nullable String database(Connection connection, String table) throws SQLException {
		return table.contains(".") ? "" : connection.getCatalog();
	}

	/**
	 * Returns whether a transaction that has passed has done so at a table.
	 * @param connection the connection of the transaction
	 * @param table the name of the table
	 * @param database what distinguishes the table
	 */
	boolean hasPassed(Connection connection, String table, String database) throws SQLException {
		String other = database(connection, table);
		return other == null || other.equals(database);
	}

	/** Whether what distinguishes a table differs on another server. */
	boolean tellsServers() {
		return false;
	}

	private static String text(Connection connection, String query) throws SQLException {
		try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery(query)) {
			row.next();
			return row.getString(1);
		}
	}

	/** Advances all fences; returns {@code false} if one of them rejects its holder. */
	abstract boolean advance(JdbcOperations jdbc, String table, List<FenceEntry> entries);

	/**
	 * Reads the current state of fences instead of a snapshot, and prevents others from
	 * advancing them until the transaction ends.
	 * @return the holders of those that exist
	 */
	List<RecordedHolder> kept(JdbcOperations jdbc, String table, List<FenceEntry> entries) {
		return jdbc.query(keptQuery(table, entries), (row, number) -> RecordedHolder.of(row), ids(entries));
	}

	/**
	 * MariaDB and MySQL read each row by its key. They may otherwise read a small table
	 * as a whole, and lock all of its rows.
	 */
	private String keptQuery(String table, List<FenceEntry> entries) {
		String rows = "SELECT lock_id, token, owner FROM " + table + " WHERE lock_id ";
		return (this == MARIADB || this == MYSQL)
				? String.join(" UNION ALL ",
						Collections.nCopies(entries.size(), "(" + rows + "= ? " + this.sharedRow + ")"))
				: rows + "IN (" + placeholders(entries) + ") " + this.sharedRow;
	}

	private static String placeholders(List<FenceEntry> entries) {
		return String.join(", ", Collections.nCopies(entries.size(), "?"));
	}

	private static Object[] ids(List<FenceEntry> entries) {
		return entries.stream().map(FenceEntry::id).toArray();
	}

	String statement(String table, List<FenceEntry> entries) {
		return this.advance.replace("${table}", table)
			.replace("${rows}", String.join(", ", Collections.nCopies(entries.size(), this.row)));
	}

	static Object[] parameters(List<FenceEntry> entries) {
		return entries.stream()
			.flatMap((entry) -> List
				.<Object>of(entry.id(), LockDigest.readable(entry.lock(), NAME_LENGTH), entry.token(), entry.owner())
				.stream())
			.toArray();
	}

}
