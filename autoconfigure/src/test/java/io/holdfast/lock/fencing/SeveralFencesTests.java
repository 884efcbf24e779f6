package io.holdfast.lock.fencing;

import java.nio.charset.StandardCharsets;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.support.TransactionTemplate;

import io.holdfast.lock.LockContext;
import io.holdfast.lock.StaleFencingTokenException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the fences of an application context and of its parent, which fence different
 * data sources under the same locks.
 */
class SeveralFencesTests {

	private final Fenced parent = new Fenced("jdbc:h2:mem:parent;DB_CLOSE_DELAY=-1");

	private void holding(Runnable action) {
		Runnable unbind = LockContext.bind(TestHold.of("42", 10, "a"));
		try {
			action.run();
		}
		finally {
			unbind.run();
		}
	}

	@Test
	void staleHolderIsRefusedInTheOtherDatabase() {
		Fenced child = new Fenced("jdbc:h2:mem:child;DB_CLOSE_DELAY=-1");
		child.jdbc.update("INSERT INTO fence VALUES ('stock:42', 'stock:42', 20, 'successor')");
		holding(() -> this.parent.transaction
			.executeWithoutResult((outer) -> assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> child.transaction.executeWithoutResult((inner) -> {
				}))));
	}

	@Test
	void innerTransactionDoesNotWaitForTheOuterOneInTheSameDatabase() {
		Fenced child = new Fenced("jdbc:h2:mem:parent;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=100");
		holding(() -> this.parent.transaction.executeWithoutResult((outer) -> child.transaction.executeWithoutResult(
				(inner) -> assertThat(child.jdbc.queryForList("SELECT lock_id FROM fence", String.class)).isEmpty())));
		assertThat(this.parent.jdbc.queryForObject("SELECT token FROM fence", Long.class)).isEqualTo(10);
	}

	/** A fence and the transactions of its data source. */
	private static final class Fenced {

		private final JdbcTemplate jdbc;

		private final TransactionTemplate transaction;

		Fenced(String url) {
			DataSource dataSource = new DriverManagerDataSource(url);
			new ResourceDatabasePopulator(
					new ByteArrayResource(JdbcFencingGuard.schema("fence").getBytes(StandardCharsets.UTF_8)))
				.execute(dataSource);
			this.jdbc = new JdbcTemplate(dataSource);
			this.jdbc.update("DELETE FROM fence");
			TransactionFence fence = new TransactionFence(
					new JdbcFencingGuard(dataSource, "fence", (hold) -> hold.lock().toString()), dataSource,
					Object::toString, (method, type) -> null, (hold) -> true, (refusal) -> {
					});
			DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
			manager.addListener(new FenceListener(() -> fence));
			this.transaction = new TransactionTemplate(manager);
		}

	}

}
