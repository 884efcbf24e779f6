package io.holdfast.lock.backend.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a claim that waits before its backend listens for releases.
 */
class PostgresListenTests {

	/** Longer than each pause of a claim that polls. */
	private static final Duration SOON = Duration.ofMillis(200);

	private final CountDownLatch announced = new CountDownLatch(1);

	/** A release in between was not noticed. */
	@Test
	void claimAnnouncedBeforeItsBackendListensPollsSoon() throws Exception {
		LockName lock = LockName.of("stock", "42");
		try (PostgresServer server = PostgresServer.started(); HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(server.jdbcUrl());
			pool.setUsername(PostgresServer.USERNAME);
			JdbcContract.createTables(pool);
			try (JdbcLockBackend holder = JdbcContract.backend(pool);
					JdbcLockBackend waiting = JdbcContract.backend(new LateListener(pool))) {
				Grant grant = granted(holder, claim(lock));
				Claim reader = new Claim(lock, OwnerId.random(), LockMode.SHARED, Duration.ofSeconds(30), true, BOUND,
						false);
				assertThat(ask(waiting, reader)).isInstanceOfSatisfying(Contended.class,
						(contended) -> assertThat(contended.retryAfter()).isLessThan(SOON));
				answer(waiting.abandon(reader));
				released(holder, grant);
			}
		}
	}

	/** Lets the backend listen between the commit of a claim and its response. */
	private final class LateListener extends DelegatingDataSource {

		private final Thread claimant = Thread.currentThread();

		private final HikariDataSource pool;

		LateListener(HikariDataSource pool) {
			super(pool);
			this.pool = pool;
		}

		@Override
		public Connection getConnection() throws SQLException {
			if (Thread.currentThread() != this.claimant) {
				try {
					PostgresListenTests.this.announced.await();
				}
				catch (InterruptedException ex) {
					throw new SQLException(ex);
				}
			}
			Connection connection = super.getConnection();
			return (Thread.currentThread() == this.claimant) ? reporting(connection) : connection;
		}

		private Connection reporting(Connection connection) {
			return (Connection) Proxy.newProxyInstance(Connection.class.getClassLoader(),
					new Class<?>[] { Connection.class }, (proxy, method, args) -> {
						try {
							Object result = method.invoke(connection, args);
							if (method.getName().equals("close")) {
								awaitListener();
							}
							return result;
						}
						catch (InvocationTargetException ex) {
							throw ex.getCause();
						}
					});
		}

		private void awaitListener() {
			JdbcTemplate jdbc = new JdbcTemplate(this.pool);
			if (jdbc.queryForObject("SELECT COUNT(*) FROM holdfast_lock WHERE waiter <> ''", Integer.class) > 0) {
				PostgresListenTests.this.announced.countDown();
				Awaitility.await("a listener")
					.atMost(BOUND)
					.until(() -> jdbc.queryForObject("SELECT COUNT(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'",
							Integer.class) > 0);
			}
		}

	}

}
