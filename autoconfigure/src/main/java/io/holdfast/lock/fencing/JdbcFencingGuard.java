package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcOperations;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcUtils;
import org.springframework.jdbc.support.MetaDataAccessException;
import org.springframework.transaction.TransactionTimedOutException;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.util.function.SingletonSupplier;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.support.Resources;
import io.holdfast.lock.support.SqlStates;

/**
 * The guard of a database, with one row for each lock. The row contains the greatest
 * token seen and stays locked until the transaction ends. A holder that becomes stale
 * after it has passed therefore makes its successor wait, and one that became stale
 * before is rejected.
 *
 * <p>
 * The guard uses the connection of the current transaction of its data source. Outside a
 * transaction it throws a {@link LockConfigurationException}, because a row lock that is
 * released immediately guards nothing. H2, PostgreSQL and MariaDB advance all locks of a
 * call in one statement, MySQL in two; other databases one by one. Thread-safe.
 */
public final class JdbcFencingGuard implements FencingGuard {

	private static final String SCHEMA = "schema.sql";

	private final JdbcOperations jdbc;

	private final String table;

	private final Function<LockHandle, String> id;

	private final Supplier<FenceSql> sql;

	private final FenceRows rows;

	private final FenceDatabase database;

	/**
	 * Creates a guard.
	 * @param dataSource the data source whose transactions are guarded
	 * @param table the table of the fences, see {@link #schema}
	 * @param id returns the identity of a lock's fence: at most 64 characters, different
	 * for every two locks and for every two stores of one lock, also to a database that
	 * ignores case and trailing spaces
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
		this.database = new FenceDatabase(dataSource, table, sql);
	}

	private JdbcFencingGuard(JdbcOperations jdbc, JdbcFencingGuard like) {
		this.jdbc = jdbc;
		this.table = like.table;
		this.id = like.id;
		this.sql = like.sql;
		this.rows = like.rows;
		this.database = like.database;
	}

	private static FenceSql dialect(DataSource dataSource) {
		try {
			String product = JdbcUtils.extractDatabaseMetaData(dataSource,
					(metaData) -> metaData.getDatabaseProductName());
			return FenceSql.of(String.valueOf(product));
		}
		catch (MetaDataAccessException ex) {
			throw new LockConfigurationException("The database product cannot be determined: " + ex.getMessage(), ex);
		}
	}

	/**
	 * Returns the statements that create the table, for a migration.
	 * @param table the name of the table
	 * @return the script
	 */
	public static String schema(String table) {
		return Resources.text(JdbcFencingGuard.class, SCHEMA).replace("${table}", table);
	}

	/**
	 * Returns the same guard for a connection that Spring does not manage. Its
	 * transaction must have started: with auto-commit, the guard throws a
	 * {@link LockConfigurationException}.
	 * @param connection the connection of the transaction
	 * @return a guard for this transaction
	 */
	public FencingGuard on(Connection connection) {
		return new JdbcFencingGuard(new JdbcTemplate(new SingleConnectionDataSource(connection, true)), this);
	}

	/**
	 * Verifies that the table can be read and written, without changing it; throws the
	 * exception of the database otherwise.
	 */
	void verify() {
		this.rows.verify();
	}

	/**
	 * Creates the rows that readers will share, so that no reader has to do so in its
	 * transaction. Needs a connection of its own.
	 */
	void prepare(List<LockHandle> holds) {
		this.rows.create(entries(holds).filter(FenceEntry::shared).toList());
	}

	@Override
	public void advance(LockHandle hold) {
		advance(hold.parts());
	}

	/**
	 * Advances all or none, in one order of the fences, so that two calls with the same
	 * locks do not deadlock.
	 */
	void advance(List<LockHandle> holds) {
		List<FenceEntry> entries = entries(holds).sorted(Comparator.comparing(FenceEntry::id)).toList();
		try {
			requireTransaction(entries.get(0));
			advanceInOrder(entries);
		}
		catch (TransactionTimedOutException ex) {
			throw FenceFailure.timedOut(entries.get(0), ex);
		}
		catch (DataAccessException ex) {
			throw FenceFailure.explained(entries.get(0), ex);
		}
	}

	/**
	 * Returns whether code that ignores a failed statement may continue without the rows
	 * with which its transaction has passed, because the database has rolled it back.
	 */
	boolean mayLoseRows() {
		return this.sql.get().continuesAfterRollback();
	}

	/**
	 * Returns whether a suspended transaction still keeps the rows of holds with which it
	 * has passed. If it can, it passes again.
	 * @param holds the holds
	 * @param connection the connection of the transaction
	 * @param beforeSavepoint whether it may have passed before its latest savepoint
	 * @throws StaleFencingTokenException if a newer holder has passed meanwhile
	 * @throws DataAccessException if the database does not tell
	 */
	boolean isKept(List<LockHandle> holds, Connection connection, boolean beforeSavepoint) {
		DataSource bound = new SingleConnectionDataSource(connection, true);
		// a template would register another resource with the current transaction
		TransactionSynchronizationManager.bindResource(bound, new ConnectionHolder(connection));
		try {
			new JdbcFencingGuard(new JdbcTemplate(bound), this).advance(holds);
			return true;
		}
		catch (DataAccessException ex) {
			if (beforeSavepoint && SqlStates.isOfAbortedTransaction(ex)) {
				throw FenceFailure.inDoubt(entries(holds).toList().get(0), ex);
			}
			if (SqlStates.isOfEndedTransaction(ex, connection)) {
				return false;
			}
			throw ex;
		}
		finally {
			TransactionSynchronizationManager.unbindResource(bound);
		}
	}

	/** Tells to which table a transaction leads. */
	FenceDatabase database() {
		return this.database;
	}

	/** With auto-commit, the row would be unlocked before the work begins. */
	private void requireTransaction(FenceEntry first) {
		if (Boolean.TRUE.equals(this.jdbc.execute((ConnectionCallback<Boolean>) Connection::getAutoCommit))) {
			throw new LockConfigurationException(
					"%s: it cannot pass the fence outside a transaction, because its row would be unlocked immediately (auto-commit is on). Call the guard in the transaction that writes. On a connection of your own, call setAutoCommit(false) first."
						.formatted(first));
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
	 * Checks a reader. It prevents later writers from passing until its transaction ends,
	 * but not other readers if the database has shared row locks.
	 */
	private void check(FenceEntry reader) {
		List<RecordedHolder> seen = kept(List.of(reader));
		if (seen.isEmpty()) {
			create(reader);
			seen = kept(List.of(reader));
		}
		long token = seen.get(0).token();
		if (token >= reader.token()) {
			throw reader.refused(token);
		}
	}

	private List<RecordedHolder> kept(List<FenceEntry> entries) {
		return this.sql.get().kept(this.jdbc, this.table, entries);
	}

	/** Creates a fence that no holder has passed, so that there is a row to lock. */
	private void create(FenceEntry reader) {
		this.sql.get().advance(this.jdbc, this.table, List.of(reader.withoutHolder()));
	}

	private StaleFencingTokenException refused(List<FenceEntry> entries) {
		Map<String, RecordedHolder> seen = kept(entries).stream()
			.collect(Collectors.toMap(RecordedHolder::id, Function.identity()));
		return entries.stream()
			.flatMap((entry) -> Stream.ofNullable(seen.get(entry.id()))
				.filter((there) -> !entry.passes(there.token(), there.owner()))
				.map((there) -> entry.refused(there.token())))
			.findFirst()
			.orElseGet(() -> entries.get(0).refused(entries.get(0).token()));
	}

}
