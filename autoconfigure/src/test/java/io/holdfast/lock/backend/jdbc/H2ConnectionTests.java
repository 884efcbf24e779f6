package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.Statement;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.ReleaseResult;

import static io.holdfast.lock.backend.Verbs.answer;
import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.refused;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the connections that locks in H2 share with the application.
 */
class H2ConnectionTests {

	@AutoClose
	private final HikariDataSource pool = new HikariDataSource();

	@BeforeEach
	void createTables() {
		this.pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
		this.pool.setMaximumPoolSize(1);
		JdbcContract.createTables(this.pool);
	}

	/** In H2, the timeout of a statement is one of its connection. */
	@ParameterizedTest
	@EnumSource
	void locksLeaveNoTimeoutOnTheConnectionOfTheApplication(LockMode mode) throws Exception {
		LockBackend store = JdbcContract.backend(this.pool);
		Grant grant = granted(store, OnEveryDatabase.nonWaiting(OnEveryDatabase.newLock(), mode));
		renewed(store, grant);
		released(store, grant);
		try (Connection connection = this.pool.getConnection(); Statement statement = connection.createStatement()) {
			assertThat(statement.getQueryTimeout()).isZero();
		}
	}

	/** The time zone of a session is that of its JVM, and the clocks may go forward. */
	@Test
	void leaseLastsInEveryTimeZone() throws Exception {
		try (HikariDataSource east = new HikariDataSource()) {
			east.setJdbcUrl(this.pool.getJdbcUrl());
			east.setConnectionInitSql("SET TIME ZONE '+05:00'");
			JdbcClient.create(this.pool).sql("SET TIME ZONE 'UTC'").update();
			LockBackend store = JdbcContract.backend(this.pool);
			LockBackend inTheEast = JdbcContract.backend(east);
			LockName lock = OnEveryDatabase.newLock();
			Grant grant = granted(store, OnEveryDatabase.nonWaiting(lock, LockMode.EXCLUSIVE));
			refused(inTheEast, OnEveryDatabase.nonWaiting(lock, LockMode.EXCLUSIVE));
			released(inTheEast, grant);
		}
	}

	@Test
	void threadWithAConnectionDoesNotWaitForAnother() throws Exception {
		LockBackend store = JdbcContract.backend(this.pool);
		released(store, granted(store, OnEveryDatabase.nonWaiting(OnEveryDatabase.newLock(), LockMode.EXCLUSIVE)));
		assertThat(store.releasesOnCaller()).isTrue();
		new TransactionTemplate(new DataSourceTransactionManager(this.pool))
			.executeWithoutResult((status) -> assertThat(store.releasesOnCaller()).isFalse());
		assertThat(store.releasesOnCaller()).isTrue();
	}

	@Test
	void callersDoNotWaitForADatabaseThatFails() throws Exception {
		LockBackend store = JdbcContract.backend(this.pool);
		Grant grant = granted(store, OnEveryDatabase.nonWaiting(OnEveryDatabase.newLock(), LockMode.EXCLUSIVE));
		JdbcClient jdbc = JdbcClient.create(this.pool);
		jdbc.sql("ALTER TABLE holdfast_lock RENAME TO away").update();
		assertThat(answer(store.release(grant))).isInstanceOf(ReleaseResult.Indeterminate.class);
		assertThat(store.releasesOnCaller()).isFalse();
		jdbc.sql("ALTER TABLE away RENAME TO holdfast_lock").update();
		released(store, grant);
		assertThat(store.releasesOnCaller()).isTrue();
	}

}
