package io.holdfast.lock.fencing;

import javax.sql.DataSource;

import org.junit.jupiter.api.Test;

import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class H2FencingGuardTests extends JdbcFencingGuardContract {

	@Override
	DataSource dataSource() {
		return new DriverManagerDataSource("jdbc:h2:mem:fences;DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=10000");
	}

	@Test
	void databaseIsRecognized() {
		FencingGuard guard = new JdbcFencingGuard(dataSource(), "no_such_table", (hold) -> "1");
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> guard.advance(TestHold.of("42", 10, "a")))
			.withMessageContaining("the fence table cannot be used")
			.havingCause()
			.withMessageContaining("MERGE INTO");
	}

	@Override
	FenceSql sql() {
		return FenceSql.H2;
	}

}
