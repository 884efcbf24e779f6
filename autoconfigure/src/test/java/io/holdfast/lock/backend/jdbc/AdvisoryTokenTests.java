package io.holdfast.lock.backend.jdbc;

import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.Slow;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.TcpProxy;

import static io.holdfast.lock.backend.Verbs.BOUND;
import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.soonGranted;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the tokens of advisory locks: they grow whatever happens to the sequence.
 */
class AdvisoryTokenTests {

	@AutoClose
	private final AdvisoryFixture postgres = new AdvisoryFixture();

	private final LockName lock = LockName.of("token", UUID.randomUUID().toString());

	private long token(LockBackend store) throws Exception {
		Grant grant = soonGranted(store, claim(this.lock));
		released(store, grant);
		return grant.storeToken();
	}

	private AdvisoryLockBackend advisory() {
		return this.postgres.backend(this.postgres.pool(2));
	}

	/** The sequence already exists when the mode is changed the second time. */
	@Slow
	@Test
	void tokensGrowWhenTheModeIsChanged() throws Exception {
		HikariDataSource pool = this.postgres.pool(2);
		JdbcContract.createTables(pool);
		try (JdbcLockBackend rows = JdbcContract.patientBackend(pool)) {
			long last = token(rows);
			for (int i = 0; i < 2; i++) {
				awaitTimeOfARestart(last);
				AdvisoryLockBackend advisory = advisory();
				for (int grant = 0; grant < 40; grant++) {
					long token = token(advisory);
					assertThat(token).isGreaterThan(last);
					last = token;
				}
				long ofRow = token(rows);
				assertThat(ofRow).isGreaterThan(last);
				last = ofRow;
			}
		}
	}

	/**
	 * Waits until the database's time exceeds a token by the 100 ms by which a session
	 * lets the sequence be behind. All instances stop and start for a change of the mode,
	 * which takes longer.
	 */
	private void awaitTimeOfARestart(long token) {
		Awaitility.await()
			.until(() -> this.postgres.admin
				.sql("SELECT CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000000 AS BIGINT)")
				.query(Long.class)
				.single() > token + 100_000);
	}

	@Slow
	@Test
	void tokensGrowAcrossARestartOfTheServer() throws Exception {
		long before = 0;
		for (int i = 0; i < 3; i++) {
			long token = token(advisory());
			assertThat(token).isGreaterThan(before);
			before = token;
			this.postgres.server.kill();
			this.postgres.server.start();
		}
	}

	@Slow
	@Test
	void tokensGrowAfterAFailoverToAStandbyThatLacksTheLast() throws Exception {
		AdvisoryLockBackend before = advisory();
		TcpProxy replication = TcpProxy.to(this.postgres.server.port());
		PostgresServer standby = PostgresServer.standbyOf(replication.port());
		long replicated = token(before);
		Awaitility.await("the standby to have this token").atMost(BOUND).until(() -> sequence(standby) >= replicated);
		replication.close();
		long lost = 0;
		for (int i = 0; i < 200; i++) {
			lost = token(before);
		}
		standby.promote();
		try (AdvisoryFixture after = new AdvisoryFixture(standby)) {
			assertThat(sequence(standby)).isBetween(replicated, lost - 1);
			AdvisoryLockBackend backend = after.backend(after.pool(2));
			assertThat(token(backend)).isGreaterThan(lost);
		}
	}

	private static long sequence(PostgresServer server) {
		return JdbcClient.create(new DriverManagerDataSource(server.jdbcUrl()))
			.sql("SELECT last_value FROM holdfast_lock_token")
			.query(Long.class)
			.single();
	}

	@Slow
	@Test
	void newConnectionAdvancesASequenceThatWasSetBack() throws Exception {
		AdvisoryLockBackend before = advisory();
		long lost = 0;
		for (int i = 0; i < 100; i++) {
			lost = token(before);
		}
		this.postgres.admin.sql("SELECT setval('holdfast_lock_token', 5)").query(Long.class).single();
		assertThat(token(advisory())).isGreaterThan(lost);
	}

	@Slow
	@Test
	void newConnectionDoesNotSetBackASequenceThatIsAhead() throws Exception {
		long ahead = 9_000_000_000_000_000L;
		this.postgres.admin.sql("SELECT setval('holdfast_lock_token', ?)").param(ahead).query(Long.class).single();
		assertThat(token(advisory())).isEqualTo(ahead + 1);
		assertThat(token(advisory())).isEqualTo(ahead + 2);
	}

	/** A token that is not on the disk would be granted again after a crash. */
	@Slow
	@Test
	void tokenIsOnTheDiskThoughCommitsDoNotWaitForIt() throws Exception {
		HikariDataSource pool = this.postgres.pool(1);
		pool.addDataSourceProperty("options", "-c synchronous_commit=off");
		AdvisoryLockBackend store = this.postgres.backend(pool);
		JdbcClient admin = this.postgres.admin;
		for (int i = 0; i < 100; i++) {
			token(store);
			assertThat(admin.sql("SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()")
				.query(Boolean.class)
				.single()).as("grant %d", i).isTrue();
		}
	}

}
