package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.support.SqlStates;

/**
 * Answers the questions of operators about advisory locks, and about the database itself.
 * Uses a connection of its own for each.
 */
final class AdvisoryLookup {

	private static final String POSTGRESQL = "PostgreSQL";

	/** The first version with {@code idle_session_timeout}. */
	private static final int LEAST_VERSION = 14;

	private final JdbcConnections connections;

	private final AdvisoryLockOptions options;

	private final DirectStatement find;

	private final DirectStatement revoke;

	private final DirectStatement probe;

	AdvisoryLookup(JdbcConnections connections, AdvisoryLockOptions options) {
		this.connections = connections;
		this.options = options;
		this.find = AdvisoryStatements.query("find", options.table());
		this.revoke = AdvisoryStatements.query("revoke", options.table());
		this.probe = AdvisoryStatements.query("probe", options.table());
	}

	/**
	 * A claim enters the server's queue shortly after its rejection, so none is counted.
	 */
	LockState find(LockName lock) throws SQLException {
		Map<String, Object> parameters = Map.of("key", this.options.key(lock));
		List<LockState.Holder> holders = this.connections.direct((connection) -> {
			List<LockState.Holder> found = new ArrayList<>();
			try (PreparedStatement statement = this.find.prepare(connection, parameters::get);
					ResultSet row = statement.executeQuery()) {
				while (row.next()) {
					found.add(holder(row));
				}
			}
			return found;
		});
		return new LockState(lock, AdvisoryLockBackend.NAME, holders, null);
	}

	private static LockState.Holder holder(ResultSet row) throws SQLException {
		String[] parts = row.getString(1).split(" ");
		LockMode mode = row.getString(2).startsWith("Share") ? LockMode.SHARED : LockMode.EXCLUSIVE;
		return new LockState.Holder(parts[1], mode, Grant.fencingTokenOf(Long.parseLong(parts[2])), null);
	}

	/**
	 * Ends the session of a holder.
	 * @return whether this call has ended it
	 */
	boolean revoke(LockName lock, LockState.Holder holder) throws SQLException {
		Map<String, Object> parameters = Map.of("key", this.options.key(lock), "owner", holder.ownerId(), "token",
				Long.toString(JdbcLookup.storeToken(holder.token())), "millis",
				this.options.responseTimeout().toMillis());
		return this.connections.direct((connection) -> Boolean.TRUE
			.equals(this.revoke.first(connection, parameters::get, (row) -> row.getBoolean(1))));
	}

	/**
	 * Fails unless the database can keep advisory locks with leases and tokens.
	 * @return the version of the database
	 */
	String verify() throws SQLException {
		return this.connections.direct((connection) -> {
			String version = supportedVersion(connection);
			boolean permitted = Boolean.TRUE.equals(this.probe.first(connection, (name) -> null, (row) -> {
				if (row.getBoolean(1)) {
					throw new SQLException("its transactions are read-only", SqlStates.READ_ONLY);
				}
				return row.getBoolean(2);
			}));
			if (!permitted) {
				throw new SQLException("permission denied for the sequence", SqlStates.PERMISSION_DENIED);
			}
			return version;
		});
	}

	/**
	 * Returns the version of the database.
	 * @throws LockConfigurationException if it cannot keep advisory locks with leases
	 */
	static String supportedVersion(Connection connection) throws SQLException {
		DatabaseMetaData database = connection.getMetaData();
		String product = database.getDatabaseProductName();
		String version = database.getDatabaseProductVersion();
		if (!product.equals(POSTGRESQL) || database.getDatabaseMajorVersion() < LEAST_VERSION) {
			throw new LockConfigurationException(
					"The mode 'advisory' of the backend 'jdbc' needs PostgreSQL %s or later, but the database is %s %s. Set 'distributed-lock.jdbc.mode=rows', or name another database with 'distributed-lock.jdbc.data-source'."
						.formatted(LEAST_VERSION, product, version));
		}
		return version;
	}

}
