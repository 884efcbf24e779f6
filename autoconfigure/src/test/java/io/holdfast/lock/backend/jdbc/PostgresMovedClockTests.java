package io.holdfast.lock.backend.jdbc;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.holdfast.lock.LockName;
import io.holdfast.lock.backend.MovedClockContract;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.backend.Verbs.claim;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a PostgreSQL server whose clock moves.
 */
class PostgresMovedClockTests extends MovedClockContract {

	@AutoClose
	private final PostgresServer server = PostgresServer.started();

	@AutoClose
	private final HikariDataSource pool = new HikariDataSource();

	PostgresMovedClockTests() {
		this.server.ownWallClock();
		this.server.restart();
		this.pool.setJdbcUrl(this.server.jdbcUrl());
		JdbcContract.createTables(this.pool);
	}

	/** Deletes the rows with the documented statement. */
	@Test
	void rowsUnusedForADayMayBeDeleted() throws Exception {
		LockName lock = LockName.of("purged");
		Grant before = granted(first(), claim(lock));
		released(first(), before);
		String purge = JdbcCleanUpTests.statement(OnEveryDatabase.Database.POSTGRESQL);
		JdbcClient jdbc = JdbcClient.create(this.pool);
		assertThat(jdbc.sql(purge).update()).isZero();
		moveClock(Duration.ofHours(25));
		Grant held = granted(second(), claim(LockName.of("kept")));
		assertThat(jdbc.sql(purge).update()).isPositive();
		assertThat(renewed(second(), held)).isInstanceOf(RenewResult.Renewed.class);
		released(second(), held);
		assertThat(granted(first(), claim(lock)).storeToken()).isGreaterThan(before.storeToken());
	}

	@Override
	protected LockBackend connect() {
		return JdbcContract.patientBackend(this.pool);
	}

	@Override
	protected void moveClock(Duration fromNow) {
		this.server.moveWallClock(fromNow);
	}

}
