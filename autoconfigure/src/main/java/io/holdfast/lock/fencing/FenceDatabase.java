package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Tells which transactions of a thread lead to the same table of fences. Thread-safe.
 *
 * <p>
 * The URL does not tell: its parameters may name the schema, a connection may have
 * changed it, and several URLs may lead to one database. So the databases themselves are
 * asked, but only if one transaction runs inside another one that has passed a fence.
 */
final class FenceDatabase {

	private final String table;

	private final Supplier<FenceSql> sql;

	private final boolean routes;

	/**
	 * Known after the first transaction, unless the data source routes and only the URL
	 * tells where. Set once, because other connections may have other URLs.
	 */
	private final AtomicReference<@Nullable String> likely = new AtomicReference<>();

	FenceDatabase(DataSource dataSource, String table, Supplier<FenceSql> sql) {
		this.table = table;
		this.sql = sql;
		this.routes = routes(dataSource);
	}

	private static boolean routes(DataSource dataSource) {
		try {
			return dataSource.isWrapperFor(AbstractRoutingDataSource.class);
		}
		catch (SQLException | RuntimeException ex) {
			return false;
		}
	}

	/**
	 * Returns the table to which the current transaction leads.
	 * @param connection the resource of its connection
	 */
	String of(ConnectionHolder connection) {
		String known = PassedHolds.databaseOf(connection, this.table + " ");
		if (known != null) {
			return known;
		}
		String database = likely(connection.getConnection());
		Set<ConnectionHolder> outer = PassedHolds.outer(database, connection);
		return outer.isEmpty() ? database : inner(database, outer, connection);
	}

	/**
	 * Returns the table and the database that the URL suggests. Pools of the same
	 * database may have URLs with different parameters.
	 */
	private String likely(Connection connection) {
		String known = this.likely.get();
		if (known != null) {
			return known;
		}
		try {
			String url = String.valueOf(connection.getMetaData().getURL()).split("[?;]", 2)[0];
			if (this.routes && !this.sql.get().tellsServers()) {
				return "%s %s %s %s".formatted(this.table, url, connection.getCatalog(),
						this.table.contains(".") ? "" : connection.getSchema());
			}
			String first = "%s %s".formatted(this.table, url);
			String earlier = this.likely.compareAndExchange(null, first);
			return (earlier != null) ? earlier : first;
		}
		catch (SQLException ex) {
			throw new DataAccessResourceFailureException("The database of the transaction cannot be determined", ex);
		}
	}

	/**
	 * Asks several outer transactions if necessary: after a rollback to a savepoint, one
	 * may not have passed any more.
	 */
	private String inner(String likely, Set<ConnectionHolder> outer, ConnectionHolder connection) {
		for (TransactionSynchronization present : TransactionSynchronizationManager.getSynchronizations()) {
			if (present instanceof Inner inner && inner.connection == connection && inner.likely.equals(likely)) {
				return inner.database;
			}
		}
		String own = answer(connection, (asked) -> this.sql.get().database(asked, this.table));
		String database = (own == null || outer.stream().anyMatch((each) -> hasPassed(each, own))) ? likely
				: likely + " " + own;
		TransactionSynchronizationManager.registerSynchronization(new Inner(connection, likely, database));
		return database;
	}

	private boolean hasPassed(ConnectionHolder outer, String own) {
		return !Boolean.FALSE.equals(answer(outer, (asked) -> this.sql.get().hasPassed(asked, this.table, own)));
	}

	/**
	 * Returns what a database answers, or {@code null} if it does not, such as after a
	 * failed statement in PostgreSQL. Then both transactions count as in one database:
	 * the inner one would otherwise wait for the outer one.
	 */
	private static <T> @Nullable T answer(ConnectionHolder transaction, Question<T> question) {
		try {
			// a connection beside a transaction is returned while that is suspended
			return (transaction.getConnectionHandle() != null) ? question.ask(transaction.getConnection()) : null;
		}
		catch (SQLException ex) {
			return null;
		}
	}

	/**
	 * What a database is asked.
	 *
	 * @param <T> the type of the answer
	 */
	private interface Question<T> {

		@Nullable T ask(Connection connection) throws SQLException;

	}

	/**
	 * Remembers the table of an inner transaction until that ends.
	 *
	 * @param connection the resource of its connection
	 * @param likely what the URL suggests
	 * @param database the table to which it leads
	 */
	private record Inner(ConnectionHolder connection, String likely,
			String database) implements TransactionSynchronization {
	}

}
