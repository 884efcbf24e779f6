package io.holdfast.lock.backend.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.test.server.MariaDbServer;
import io.holdfast.lock.test.server.PostgresServer;
import io.holdfast.lock.test.server.ServerProcess;

/**
 * Base class for tests of the backend on each supported database, on real servers.
 */
abstract class OnEveryDatabase {

	/** A database that keeps locks. */
	enum Database {

		H2, POSTGRESQL, MARIADB,

		/** MariaDB, with the driver of MySQL and the statements for MySQL. */
		MYSQL

	}

	static PostgresServer postgres;

	static MariaDbServer mariaDb;

	private static final String H2_URL = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";

	private final List<AutoCloseable> opened = new ArrayList<>();

	@BeforeAll
	static void startServers() {
		postgres = PostgresServer.started();
		mariaDb = MariaDbServer.started();
		for (Database database : Database.values()) {
			HikariDataSource pool = pool(database, 1);
			JdbcContract.createTables(pool);
			pool.close();
		}
	}

	@AfterAll
	static void stopServers() {
		postgres.close();
		mariaDb.close();
	}

	@AfterEach
	void closeAll() throws Exception {
		for (AutoCloseable closeable : this.opened) {
			closeable.close();
		}
	}

	private static HikariDataSource pool(Database database, int size) {
		HikariDataSource pool = new HikariDataSource();
		switch (database) {
			case H2 -> pool.setJdbcUrl(H2_URL);
			case POSTGRESQL -> pool.setJdbcUrl(postgres.jdbcUrl());
			case MARIADB, MYSQL -> {
				pool.setJdbcUrl((database == Database.MYSQL) ? mariaDb.mySqlUrl() : mariaDb.jdbcUrl());
				pool.setUsername(MariaDbServer.USERNAME);
				pool.setPassword(MariaDbServer.PASSWORD);
			}
		}
		pool.setMaximumPoolSize(size);
		return pool;
	}

	final HikariDataSource opened(Database database, int size) {
		HikariDataSource pool = pool(database, size);
		this.opened.add(pool);
		return pool;
	}

	static LockName newLock() {
		return LockName.of("fault", UUID.randomUUID().toString());
	}

	static Claim nonWaiting(LockName lock, LockMode mode) {
		return new Claim(lock, OwnerId.random(), mode, Duration.ofSeconds(30), true, Duration.ZERO, false);
	}

	final <T extends AutoCloseable> T track(T closeable) {
		this.opened.add(0, closeable);
		return closeable;
	}

	static ServerProcess server(Database database) {
		return (database == Database.POSTGRESQL) ? postgres : mariaDb;
	}

}
