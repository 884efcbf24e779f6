package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.EmptyResultDataAccessException;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jdbc.support.MetaDataAccessException;
import org.springframework.util.function.SingletonSupplier;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.StaleFencingTokenException;

/**
 * The guard of a database: one row for each lock with the greatest token seen. The row
 * stays locked until the transaction ends, so a holder that is overtaken after it has
 * passed makes its successor wait, and one that was overtaken before is refused.
 *
 * <p>
 * It uses the connection of the current transaction of its data source, and must be
 * passed inside of one: a row that is let go at once guards nothing. H2, PostgreSQL and
 * MariaDB advance all locks of a call in one statement; other databases one by one.
 * Thread-safe.
 */
public final class JdbcFencingGuard implements FencingGuard {

	private static final String SCHEMA = "schema.sql";

	private static final String SERIALIZATION_FAILURE = "40001";

	private static final int MARIADB_CHANGED_SINCE = 1020;

	private final JdbcOperations jdbc;

	private final String table;

	private final Function<LockHandle, String> id;

	private final Supplier<FenceSql> sql;

	/**
	 * Create a guard.
	 * @param dataSource whose transactions are guarded
	 * @param table the table of the fences, see {@link #schema}
	 * @param id tells the fence of a lock: at most 64 characters, different for every two
	 * locks and for every two stores of one lock
	 */
	public JdbcFencingGuard(DataSource dataSource, String table, Function<LockHandle, String> id) {
		this(dataSource, table, id, SingletonSupplier.of(() -> dialect(dataSource)));
	}

	JdbcFencingGuard(DataSource dataSource, String table, Function<LockHandle, String> id, Supplier<FenceSql> sql) {
		this.jdbc = new JdbcTemplate(dataSource);
		this.table = table;
		this.id = id;
		this.sql = sql;
	}

	private JdbcFencingGuard(JdbcOperations jdbc, JdbcFencingGuard like) {
		this.jdbc = jdbc;
		this.table = like.table;
		this.id = like.id;
		this.sql = like.sql;
	}

	private static FenceSql dialect(DataSource dataSource) {
		try {
			String product = JdbcUtils.extractDatabaseMetaData(dataSource,
					(metaData) -> metaData.getDatabaseProductName());
			return FenceSql.of(String.valueOf(product));
		}
		catch (MetaDataAccessException ex) {
			throw new LockConfigurationException("The database does not say what it is: " + ex.getMessage(), ex);
		}
	}

	/**
	 * The statements that make the table, for a migration.
	 * @param table the table's name
	 * @return the script
	 */
	public static String schema(String table) {
		return ResourceText.of(SCHEMA).replace("${table}", table);
	}

	/**
	 * The same guard on a connection that is not Spring's. Its transaction must have
	 * begun: auto-commit is off.
	 * @param connection the connection of the transaction
	 * @return a guard for this transaction
	 */
	public FencingGuard on(Connection connection) {
		return new JdbcFencingGuard(new JdbcTemplate(new SingleConnectionDataSource(connection, true)), this);
	}

	/** Whether the table can be used; throws what the database says otherwise. */
	void verify() {
		this.jdbc.queryForList("SELECT lock_id, lock_name, token, owner FROM " + this.table + " WHERE lock_id = ''");
	}

	@Override
	public void advance(LockHandle hold) {
		advance(hold.parts());
	}

	/** All or none, in one order of the fences, so that no two transactions deadlock. */
	void advance(List<LockHandle> holds) {
		List<FenceEntry> entries = holds.stream()
			.map((hold) -> FenceEntry.of(this.id.apply(hold), hold))
			.sorted(Comparator.comparing(FenceEntry::id))
			.toList();
		try {
			advanceInOrder(entries);
		}
		catch (DataAccessException ex) {
			throw hiddenBySnapshot(ex) ? unseen(entries.get(0), ex) : ex;
		}
	}

	private void advanceInOrder(List<FenceEntry> all) {
		Map<Boolean, List<FenceEntry>> entries = all.stream().collect(Collectors.partitioningBy(FenceEntry::shared));
		entries.getOrDefault(true, List.of()).forEach(this::check);
		List<FenceEntry> exclusive = entries.getOrDefault(false, List.of());
		if (!exclusive.isEmpty() && !this.sql.get().advance(this.jdbc, this.table, exclusive)) {
			throw refused(exclusive);
		}
	}

	/**
	 * Whether the database does not let a transaction on whose snapshot is older than
	 * what it meets. That says nothing of who is the newer holder: it also happens to the
	 * one that has waited for its predecessor.
	 */
	private static boolean hiddenBySnapshot(DataAccessException failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof SQLException sql && (SERIALIZATION_FAILURE.equals(sql.getSQLState())
					|| sql.getErrorCode() == MARIADB_CHANGED_SINCE)) {
				return true;
			}
		}
		return false;
	}

	private static DataAccessException unseen(FenceEntry entry, DataAccessException failure) {
		return new CannotAcquireLockException(
				"%s: another holder has passed the fence since this transaction took its snapshot, which shows neither that nor what the other has written. Nothing of it may be written, and it is rolled back as after every serialization failure; repeat the call."
					.formatted(entry),
				failure);
	}

	/**
	 * A reader keeps writers that come later from passing until its transaction ends, and
	 * other readers not.
	 */
	private void check(FenceEntry reader) {
		Seen seen;
		try {
			seen = keep(reader);
		}
		catch (EmptyResultDataAccessException ex) {
			begin(reader);
			seen = keep(reader);
		}
		if (seen.token() >= reader.token()) {
			throw reader.refused(seen.token());
		}
	}

	private Seen keep(FenceEntry reader) {
		Seen seen = this.jdbc.queryForObject(this.sql.get().keep(this.table, "?"), (row, number) -> Seen.of(row),
				reader.id());
		if (seen == null) {
			throw new EmptyResultDataAccessException(1);
		}
		return seen;
	}

	/** A fence that has seen nobody, so that there is a row to keep. */
	private void begin(FenceEntry reader) {
		this.sql.get().advance(this.jdbc, this.table, List.of(reader.asNobody()));
	}

	private StaleFencingTokenException refused(List<FenceEntry> entries) {
		Object[] ids = entries.stream().map(FenceEntry::id).toArray();
		String places = String.join(", ", Collections.nCopies(ids.length, "?"));
		Map<String, Seen> seen = this.jdbc
			.query(this.sql.get().keep(this.table, places), (row, number) -> Seen.of(row), ids)
			.stream()
			.collect(Collectors.toMap(Seen::id, Function.identity()));
		return entries.stream()
			.flatMap((entry) -> Stream.ofNullable(seen.get(entry.id()))
				.filter((there) -> !entry.passes(there.token(), there.owner()))
				.map((there) -> entry.refused(there.token())))
			.findFirst()
			.orElseGet(() -> entries.get(0).refused(entries.get(0).token()));
	}

}
