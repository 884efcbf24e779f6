package io.holdfast.lock.fencing;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a connection of the fenced data source that is used without auto-commit in a
 * transaction of another manager.
 */
class FenceBesideTransactionTests {

	@AutoClose
	private final HikariDataSource pool = pool();

	private final JdbcTemplate jdbc = new JdbcTemplate(this.pool);

	private final TransactionFence fence = new TransactionFence(
			new JdbcFencingGuard(this.pool, "fence", (hold) -> hold.lock().toString()), this.pool, Object::toString,
			(method, type) -> null, (hold) -> true, (refusal) -> {
			});

	private final TransactionTemplate fenced = new TransactionTemplate(manager());

	private final TransactionTemplate other = new TransactionTemplate(
			new DataSourceTransactionManager(new DriverManagerDataSource("jdbc:h2:mem:beside-other")));

	private static HikariDataSource pool() {
		HikariConfig config = new HikariConfig();
		config.setJdbcUrl("jdbc:h2:mem:beside;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=500");
		HikariDataSource setup = new HikariDataSource(config);
		try (setup) {
			TestFence.clear(setup);
		}
		config.setAutoCommit(false);
		return new HikariDataSource(config);
	}

	private DataSourceTransactionManager manager() {
		DataSourceTransactionManager manager = TestFence.manager(this.pool, this.fence);
		return manager;
	}

	/** Spring returns the connection when it suspends the transaction. */
	@Test
	void connectionThatWasReturnedKeepsNoRow() {
		Runnable unbind = LockContext.bind(TestHold.of("42", 10, "a"));
		try {
			this.other.executeWithoutResult((outer) -> {
				this.jdbc.queryForList("SELECT 1 FROM fence");
				this.fence.beforeBody(null);
				this.fenced.executeWithoutResult((inner) -> this.fence.beforeBody("Orders.place()"));
			});
		}
		finally {
			unbind.run();
		}
		assertThat(this.jdbc.queryForList("SELECT token FROM fence", Long.class)).containsExactly(10L);
	}

}
