package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.contract.LockBackendContract;

/**
 * Contract tests on one database, with two clients that each have a pool, and a third
 * pool to inspect leftovers.
 */
abstract class JdbcContract extends LockBackendContract {

	static final String TABLE = "holdfast_lock";

	static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(1);

	static final Duration PATIENCE = Duration.ofSeconds(20);

	private final List<HikariDataSource> pools = new ArrayList<>();

	private HikariDataSource inspection;

	private LockBackend first;

	private LockBackend second;

	/** Returns the JDBC URL of the database for one client. */
	abstract String url(int client);

	String username() {
		return "sa";
	}

	String password() {
		return "";
	}

	@BeforeAll
	void open() {
		this.inspection = pool(0);
		createTables(this.inspection);
		this.first = verified(backend(pool(1)));
		this.second = verified(backend(pool(2)));
	}

	/** The capabilities depend on the kind of database. */
	private static LockBackend verified(JdbcLockBackend backend) {
		backend.verify();
		return backend;
	}

	static void createTables(DataSource dataSource) {
		createTables(dataSource, TABLE);
	}

	static void createTables(DataSource dataSource, String table) {
		new ResourceDatabasePopulator(new ByteArrayResource(JdbcLockBackend.schema(table).getBytes()))
			.execute(dataSource);
	}

	static JdbcLockBackend backend(DataSource dataSource) {
		return new JdbcLockBackend(dataSource, new JdbcLockOptions("test", TABLE, RESPONSE_TIMEOUT, true));
	}

	/** Returns a backend for a database that responds, but late on a busy machine. */
	static JdbcLockBackend patientBackend(DataSource dataSource) {
		return patientBackend(dataSource, TABLE);
	}

	static JdbcLockBackend patientBackend(DataSource dataSource, String table) {
		return new JdbcLockBackend(dataSource, new JdbcLockOptions("test", table, PATIENCE, true));
	}

	private HikariDataSource pool(int client) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(url(client));
		pool.setUsername(username());
		pool.setPassword(password());
		pool.setConnectionTimeout(2_000);
		pool.setValidationTimeout(1_000);
		pool.setMaximumPoolSize(4);
		this.pools.add(pool);
		return pool;
	}

	/**
	 * Evicts all connections, for use after a restart of the server. The pools validate a
	 * connection only if it was idle for half a second, and a restart can be quicker.
	 */
	final void forgetConnections() {
		this.pools.forEach((pool) -> pool.getHikariPoolMXBean().softEvictConnections());
	}

	@AfterAll
	void closePools() {
		this.pools.forEach(HikariDataSource::close);
	}

	@Override
	protected LockBackend backend() {
		return this.first;
	}

	@Override
	protected LockBackend secondClient() {
		return this.second;
	}

	@Override
	protected Collection<String> leftovers() {
		// an expired lease is not a leftover, although its row is cleaned up only at the
		// next use
		long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
		JdbcClient jdbc = JdbcClient.create(this.inspection);
		List<String> left = new ArrayList<>();
		left.addAll(jdbc.sql("SELECT lock_name FROM holdfast_lock WHERE owner <> '' AND until_us > ?")
			.param(now)
			.query(String.class)
			.list());
		left.addAll(jdbc.sql("SELECT owner FROM holdfast_lock_reader WHERE until_us > ?")
			.param(now)
			.query(String.class)
			.list());
		return left;
	}

}
