package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;

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

	private final JdbcOperations jdbc;

	private final String table;

	private final Function<LockHandle, String> id;

	private final Supplier<FenceSql> sql;

	private final FenceRows rows;

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
		this.rows = new FenceRows(dataSource, table);
	}

	private JdbcFencingGuard(JdbcOperations jdbc, JdbcFencingGuard like) {
		this.jdbc = jdbc;
		this.table = like.table;
		this.id = like.id;
		this.sql = like.sql;
		this.rows = like.rows;
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

	/**
	 * Creates the rows that readers will share, so that none of them has to do so in its
	 * transaction. Needs a connection of its own.
	 */
	void prepare(List<LockHandle> holds) {
		this.rows.create(entries(holds).filter(FenceEntry::shared).toList());
	}

	@Override
	public void advance(LockHandle hold) {
		advance(hold.parts());
	}

	/** All or none, in one order of the fences, so that no two transactions deadlock. */
	void advance(List<LockHandle> holds) {
		List<FenceEntry> entries = entries(holds).sorted(Comparator.comparing(FenceEntry::id)).toList();
		try {
			advanceInOrder(entries);
		}
		catch (DataAccessException ex) {
			throw FenceFailure.explained(entries.get(0), ex);
		}
	}

	private Stream<FenceEntry> entries(List<LockHandle> holds) {
		return holds.stream().map((hold) -> FenceEntry.of(this.id.apply(hold), hold));
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
	 * A reader keeps writers that come later from passing until its transaction ends, and
	 * other readers not, where the database has shared locks of a row.
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
