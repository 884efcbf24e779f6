package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * A PostgreSQL server with the sequence of the mode {@code advisory}, and clients of it.
 */
final class AdvisoryFixture implements AutoCloseable {

	static final Duration RESPONSE_TIMEOUT = Duration.ofSeconds(1);

	final PostgresServer server;

	/** Asks the server directly. */
	final JdbcClient admin;

	private final List<AutoCloseable> opened = new ArrayList<>();

	AdvisoryFixture() {
		this(PostgresServer.started());
	}

	AdvisoryFixture(PostgresServer server) {
		this.server = server;
		DriverManagerDataSource direct = new DriverManagerDataSource(server.jdbcUrl());
		this.admin = JdbcClient.create(direct);
		new ResourceDatabasePopulator(new ByteArrayResource(AdvisoryLockBackend.schema(JdbcContract.TABLE).getBytes()))
			.execute(direct);
	}

	HikariDataSource pool(int size) {
		return pool(size, this.server.port());
	}

	HikariDataSource pool(int size, int port) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl("jdbc:postgresql://127.0.0.1:%d/postgres?prepareThreshold=0".formatted(port));
		pool.setUsername(PostgresServer.USERNAME);
		pool.setConnectionTimeout(10_000);
		pool.setValidationTimeout(1_000);
		pool.setMaximumPoolSize(size);
		pool.setMinimumIdle(0);
		this.opened.add(pool);
		return pool;
	}

	AdvisoryLockBackend backend(DataSource dataSource) {
		AdvisoryLockBackend backend = new AdvisoryLockBackend(dataSource, dataSource,
				new AdvisoryLockOptions("test", JdbcContract.TABLE, RESPONSE_TIMEOUT, false));
		this.opened.add(0, backend);
		return backend;
	}

	/** Returns the sessions that hold or await advisory locks. */
	Collection<String> locks() {
		return this.admin
			.sql("SELECT l.granted || ' ' || a.application_name || ' ' || l.objid FROM pg_locks l"
					+ " JOIN pg_stat_activity a ON a.pid = l.pid WHERE l.locktype = 'advisory'")
			.query(String.class)
			.list();
	}

	/** Ends all sessions that hold advisory locks. */
	void terminateHolders() {
		assertThat(this.admin
			.sql("SELECT pg_terminate_backend(pid, 5000) FROM pg_locks WHERE locktype = 'advisory' AND granted")
			.query(Boolean.class)
			.list()).isNotEmpty().containsOnly(true);
	}

	/** Waits until a claim is in the queue of the server. */
	void awaitWaiters(int number) {
		Awaitility.await("waiters")
			.atMost(BOUND)
			.until(() -> this.admin.sql("SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
				.query(Integer.class)
				.single() == number);
	}

	/** Waits until neither the server nor the backend keeps anything of a lock. */
	void awaitNothingLeft(AdvisoryLockBackend backend, HikariDataSource pool) {
		Awaitility.await("nothing left").atMost(BOUND).untilAsserted(() -> {
			assertThat(locks()).isEmpty();
			assertThat(backend.sessions()).as("sessions").isZero();
			assertThat(pool.getHikariPoolMXBean().getActiveConnections()).as("connections in use").isZero();
		});
	}

	@Override
	public void close() throws Exception {
		for (AutoCloseable closeable : this.opened) {
			closeable.close();
		}
		this.server.close();
	}

}
