package io.holdfast.lock.fencing;

import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Creates the rows of fences that no holder has passed yet, each in a short transaction
 * of its own. A reader that created the row in its own transaction would make other
 * readers wait for the end of that transaction. Thread-safe.
 */
final class FenceRows {

	private static final int MOST_KNOWN = 10_000;

	private final JdbcTemplate jdbc;

	private final TransactionTemplate transaction;

	private final String table;

	/** Saves the query for locks that are used repeatedly. */
	private final Set<String> known = ConcurrentHashMap.newKeySet();

	FenceRows(DataSource dataSource, String table) {
		this.jdbc = new JdbcTemplate(dataSource);
		this.transaction = new TransactionTemplate(new DataSourceTransactionManager(dataSource));
		this.table = table;
	}

	/**
	 * Reads and writes no row, in a transaction as those that are fenced; throws the
	 * exception of the database if it denies that.
	 */
	void verify() {
		String columns = "lock_id, lock_name, token, owner";
		this.transaction.executeWithoutResult((status) -> {
			this.jdbc.queryForList("SELECT %s FROM %s WHERE 1 = 0".formatted(columns, this.table));
			this.jdbc.update("INSERT INTO %s (%s) SELECT %s FROM %s WHERE 1 = 0".formatted(this.table, columns, columns,
					this.table));
			this.jdbc.update("UPDATE %s SET token = token WHERE 1 = 0".formatted(this.table));
		});
	}

	/**
	 * Creates missing rows. Needs a connection, so it must not be called within a
	 * transaction.
	 */
	void create(List<FenceEntry> entries) {
		entries.stream().filter((entry) -> !this.known.contains(entry.id())).forEach(this::create);
	}

	private void create(FenceEntry entry) {
		try {
			this.transaction.executeWithoutResult((status) -> createIfAbsent(entry));
		}
		catch (DuplicateKeyException ex) {
			// another transaction has created it meanwhile
		}
		if (this.known.size() >= MOST_KNOWN) {
			this.known.clear();
		}
		this.known.add(entry.id());
	}

	private void createIfAbsent(FenceEntry entry) {
		if (this.jdbc.queryForList("SELECT token FROM " + this.table + " WHERE lock_id = ?", entry.id()).isEmpty()) {
			FenceSql.insert(this.jdbc, this.table, entry.withoutHolder());
		}
	}

}
