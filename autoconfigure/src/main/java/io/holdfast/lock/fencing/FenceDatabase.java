package io.holdfast.lock.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

/**
 * Tells which connections lead to the same table of fences. Thread-safe.
 */
final class FenceDatabase {

	private final String table;

	private final boolean routes;

	/**
	 * The results by URL: not every data source that leads to several shows that it
	 * routes.
	 */
	private final Map<String, String> known = new ConcurrentHashMap<>();

	FenceDatabase(DataSource dataSource, String table) {
		this.table = table;
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
	 * Returns the database, schema and table to which a connection leads. Pools of the
	 * same database may have URLs with different parameters. Other parameters name the
	 * schema, or the database of SQL Server.
	 */
	String of(Connection connection) {
		try {
			String url = String.valueOf(connection.getMetaData().getURL());
			String present = this.known.get(url);
			if (present != null) {
				return present;
			}
			String found = "%s %s %s %s".formatted(url.split("[?;]", 2)[0], connection.getCatalog(),
					this.table.contains(".") ? "" : schema(connection), this.table);
			if (!this.routes) {
				this.known.put(url, found);
			}
			return found;
		}
		catch (SQLException ex) {
			throw new DataAccessResourceFailureException("The database of the transaction cannot be determined", ex);
		}
	}

	/** Not every driver knows schemas. */
	private static @Nullable String schema(Connection connection) throws SQLException {
		try {
			return connection.getSchema();
		}
		catch (SQLFeatureNotSupportedException | AbstractMethodError ex) {
			return null;
		}
	}

}
