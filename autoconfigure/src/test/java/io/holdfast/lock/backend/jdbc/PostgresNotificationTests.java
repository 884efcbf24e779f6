package io.holdfast.lock.backend.jdbc;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.ask;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a PostgreSQL that cannot store notifications, because its disk or the queue
 * of notifications is full. A function that fails like its own takes its place.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PostgresNotificationTests {

	private static final String DISK_FULL = "53100";

	private static final String QUEUE_FULL = "54000";

	@AutoClose
	private final PostgresServer server = PostgresServer.started();

	@AutoClose
	private final HikariDataSource pool = PostgresStickyFixture.pool(this.server.port());

	@AutoClose
	private final HikariDataSource unchanged = PostgresStickyFixture.pool(this.server.port());

	private final LockBackend store = JdbcContract.patientBackend(this.pool);

	@BeforeAll
	void createTables() {
		JdbcContract.createTables(this.unchanged);
		rejectNotifications(DISK_FULL);
		this.pool.setConnectionInitSql("SET search_path TO failing, public, pg_catalog");
	}

	private void rejectNotifications(String state) {
		JdbcClient.create(this.unchanged).sql("""
				CREATE SCHEMA IF NOT EXISTS failing;
				CREATE OR REPLACE FUNCTION failing.pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS
				$$ BEGIN RAISE EXCEPTION 'could not write the notification' USING ERRCODE = '%s'; END $$
				""".formatted(state)).update();
	}

	private static Claim claim(LockName lock, LockMode mode) {
		return PostgresStickyFixture.claim(lock, mode, Duration.ofSeconds(20), false);
	}

	@ParameterizedTest
	@ValueSource(strings = { DISK_FULL, QUEUE_FULL })
	void lockIsReleasedWithoutANotification(String state) throws Exception {
		rejectNotifications(state);
		LockName lock = OnEveryDatabase.newLock();
		Grant held = granted(this.store, claim(lock, LockMode.EXCLUSIVE));
		Claim waiter = claim(lock, LockMode.EXCLUSIVE);
		assertThat(ask(this.store, waiter)).isInstanceOf(AcquireResult.Contended.class);
		released(this.store, held);
		Grant next = granted(this.store, waiter);
		assertThat(next.storeToken()).isGreaterThan(held.storeToken());
		released(this.store, next);
	}

	@Test
	void readerIsReleasedWithoutANotification() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Grant reader = granted(this.store, claim(lock, LockMode.SHARED));
		Claim writer = claim(lock, LockMode.EXCLUSIVE);
		assertThat(ask(this.store, writer)).isInstanceOf(AcquireResult.Contended.class);
		released(this.store, reader);
		released(this.store, granted(this.store, writer));
	}

	@ParameterizedTest
	@EnumSource
	void claimIsWithdrawnWithoutANotification(LockMode mode) throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Claim abandoned = claim(lock, mode);
		granted(this.store, abandoned);
		answer(this.store.abandon(abandoned));
		released(this.store, granted(this.store, claim(lock, LockMode.EXCLUSIVE)));
	}

	@Test
	void forcedReleaseFailsWithoutANotification() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Grant held = granted(this.store, claim(lock, LockMode.EXCLUSIVE));
		Claim waiter = claim(lock, LockMode.EXCLUSIVE);
		assertThat(ask(this.store, waiter)).isInstanceOf(AcquireResult.Contended.class);
		assertThat(this.store.revoke(lock, answer(this.store.find(lock)).holders().get(0))).failsWithin(BOUND);
		assertThat(ask(this.store, waiter)).isInstanceOf(AcquireResult.Contended.class);
		released(this.store, held);
		released(this.store, granted(this.store, waiter));
	}

	/** Readers that wait may join the first one, and are otherwise notified of it. */
	@Test
	void firstOfTheReadersIsAdmittedWithoutANotification() throws Exception {
		LockName lock = OnEveryDatabase.newLock();
		Grant held = granted(this.store, claim(lock, LockMode.EXCLUSIVE));
		Claim reader = claim(lock, LockMode.SHARED);
		assertThat(ask(this.store, reader)).isInstanceOf(AcquireResult.Contended.class);
		released(this.store, held);
		Awaitility.await().atMost(BOUND).until(() -> ask(this.store, reader) instanceof AcquireResult.Acquired);
		answer(this.store.abandon(reader));
	}

}
