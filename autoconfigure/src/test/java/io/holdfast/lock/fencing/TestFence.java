package io.holdfast.lock.fencing;

import java.nio.charset.StandardCharsets;

import javax.sql.DataSource;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/**
 * The fence of a data source, in the table {@code fence}.
 */
final class TestFence {

	private TestFence() {
	}

	/** Creates the table unless it exists, and deletes its rows. */
	static void clear(DataSource dataSource) {
		new ResourceDatabasePopulator(
				new ByteArrayResource(JdbcFencingGuard.schema("fence").getBytes(StandardCharsets.UTF_8)))
			.execute(dataSource);
		new JdbcTemplate(dataSource).update("DELETE FROM fence");
	}

	static TransactionFence of(DataSource dataSource) {
		return new TransactionFence(new JdbcFencingGuard(dataSource, "fence", (hold) -> hold.lock().toString()),
				dataSource, Object::toString, (method, type) -> null, (hold) -> true, (refusal) -> {
				});
	}

	/** Returns a manager whose transactions pass the fence. */
	static DataSourceTransactionManager manager(DataSource dataSource, TransactionFence fence) {
		DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
		manager.addListener(new FenceListener(() -> fence));
		return manager;
	}

}
