package io.holdfast.lock.fencing;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import org.springframework.core.io.ByteArrayResource;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class H2FencingGuardTests extends JdbcFencingGuardContract {

	@Override
	DataSource dataSource() {
		return new DriverManagerDataSource("jdbc:h2:mem:fences;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000");
	}

	@Test
	void databaseIsRecognized() {
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class).isThrownBy(this::advanceWithoutTable)
			.withMessageContaining("the fence table cannot be used")
			.havingCause()
			.withMessageContaining("MERGE INTO");
	}

	/** As in Oracle: no holder has passed the fence that a reader creates. */
	@Test
	void readerPassesWhereAnEmptyTextIsNull() {
		DataSource database = new DriverManagerDataSource("jdbc:h2:mem:oracle;MODE=Oracle;DB_CLOSE_DELAY=-1");
		JdbcTemplate jdbc = new JdbcTemplate(database);
		new ResourceDatabasePopulator(new ByteArrayResource(JdbcFencingGuard.schema("fence").getBytes()))
			.execute(database);
		JdbcFencingGuard guard = new JdbcFencingGuard(database, "fence", (hold) -> "1");
		new TransactionTemplate(new DataSourceTransactionManager(database))
			.executeWithoutResult((status) -> guard.advance(TestHold.reader("42", 10, "a")));
		assertThat(jdbc.queryForList("SELECT token FROM fence", Long.class)).containsExactly(0L);
	}

	@Override
	FenceSql sql() {
		return FenceSql.H2;
	}

}
