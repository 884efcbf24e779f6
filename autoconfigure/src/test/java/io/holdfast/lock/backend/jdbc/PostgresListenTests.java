package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult.Contended;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.test.Slow;
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
	@Slow
	@Test
	void claimAnnouncedBeforeItsBackendListensPollsSoon() throws Exception {
		LockName lock = LockName.of("stock", "42");
		try (PostgresServer server = PostgresServer.started(); HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl(server.jdbcUrl());
			pool.setUsername(PostgresServer.USERNAME);
			JdbcContract.createTables(pool);
			try (JdbcLockBackend holder = JdbcContract.patientBackend(pool);
					JdbcLockBackend waiting = JdbcContract.patientBackend(listeningLate(pool))) {
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
	private DataSource listeningLate(DataSource pool) {
		Thread claimant = Thread.currentThread();
		DataSource late = HookedConnections.before(pool, "createStatement", "", () -> {
			if (Thread.currentThread() != claimant) {
				this.announced.await();
			}
			return null;
		});
		return HookedConnections.before(late, "close", "", () -> {
			if (Thread.currentThread() == claimant) {
				awaitListener(new JdbcTemplate(pool));
			}
			return null;
		});
	}

	private void awaitListener(JdbcTemplate jdbc) {
		if (jdbc.queryForObject("SELECT COUNT(*) FROM holdfast_lock WHERE waiter <> ''", Integer.class) > 0) {
			this.announced.countDown();
			Awaitility.await("a listener")
				.atMost(BOUND)
				.until(() -> jdbc.queryForObject("SELECT COUNT(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'",
						Integer.class) > 0);
		}
	}

}
