package io.holdfast.lock.backend.jdbc;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;

import io.holdfast.lock.backend.MovedClockContract;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.test.server.MariaDbServer;

/**
 * Tests for a MariaDB server whose clock moves.
 */
class MariaDbMovedClockTests extends MovedClockContract {

	@AutoClose
	private final MariaDbServer server = MariaDbServer.started();

	@AutoClose
	private final HikariDataSource pool = new HikariDataSource();

	MariaDbMovedClockTests() {
		this.server.ownWallClock();
		this.server.restart();
		this.pool.setJdbcUrl(this.server.jdbcUrl());
		this.pool.setUsername(MariaDbServer.USERNAME);
		this.pool.setPassword(MariaDbServer.PASSWORD);
		JdbcContract.createTables(this.pool);
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
