package io.holdfast.lock.backend.jdbc;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.simple.JdbcClient;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.test.server.PostgresServer;

import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for connections whose commits do not wait for the disk, or that only read.
 */
class PostgresDurabilityTests {

	@AutoClose
	private static final PostgresServer SERVER = PostgresServer.started();

	/**
	 * A lease that is not on the disk would be granted again after a crash. The database
	 * also writes for itself now and then.
	 */
	@ParameterizedTest
	@EnumSource
	void leaseIsOnTheDiskThoughCommitsDoNotWaitForIt(LockMode mode) throws Exception {
		try (HikariDataSource pool = pool(); HikariDataSource admin = pool()) {
			pool.addDataSourceProperty("options", "-c synchronous_commit=off");
			JdbcContract.createTables(admin);
			JdbcLockBackend store = JdbcContract.patientBackend(pool);
			JdbcClient client = JdbcClient.create(admin);
			int flushed = 0;
			for (int i = 0; i < 20; i++) {
				Grant grant = granted(store, LocksUnderSettings.claim(LockName.of("stock", i), mode));
				flushed += isFlushed(client) ? 1 : 0;
				assertThat(renewed(store, grant)).isInstanceOf(RenewResult.Renewed.class);
				flushed += isFlushed(client) ? 1 : 0;
				released(store, grant);
			}
			assertThat(flushed).as("grants and renewals on the disk").isGreaterThan(35);
			store.close();
		}
	}

	private static boolean isFlushed(JdbcClient client) {
		return client.sql("SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()")
			.query(Boolean.class)
			.single();
	}

	@Test
	void connectionsThatOnlyReadAreRejected() {
		try (HikariDataSource pool = pool(); HikariDataSource admin = pool()) {
			JdbcContract.createTables(admin);
			pool.setReadOnly(true);
			JdbcLockBackend store = JdbcContract.backend(pool);
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(store::verify)
				.withMessageContaining("read-only");
			store.close();
		}
	}

	private static HikariDataSource pool() {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(SERVER.jdbcUrl());
		pool.setUsername(PostgresServer.USERNAME);
		pool.setMaximumPoolSize(3);
		return pool;
	}

}
