package io.holdfast.lock.backend.jdbc;

import java.sql.Connection;
import java.sql.Statement;
import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.LockBackend;

import static io.holdfast.lock.backend.Verbs.granted;
import static io.holdfast.lock.backend.Verbs.released;
import static io.holdfast.lock.backend.Verbs.renewed;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the connections that locks in H2 share with the application.
 */
class H2ConnectionTests {

	@AutoClose
	private final HikariDataSource pool = new HikariDataSource();

	/** In H2, the timeout of a statement is one of its connection. */
	@ParameterizedTest
	@EnumSource
	void locksLeaveNoTimeoutOnTheConnectionOfTheApplication(LockMode mode) throws Exception {
		this.pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID());
		this.pool.setMaximumPoolSize(1);
		JdbcContract.createTables(this.pool);
		LockBackend store = JdbcContract.backend(this.pool);
		Grant grant = granted(store, OnEveryDatabase.nonWaiting(OnEveryDatabase.newLock(), mode));
		renewed(store, grant);
		released(store, grant);
		try (Connection connection = this.pool.getConnection(); Statement statement = connection.createStatement()) {
			assertThat(statement.getQueryTimeout()).isZero();
		}
	}

}
