package io.holdfast.lock.backend.jdbc;

import java.util.UUID;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the modes in which H2 imitates other databases, as in the tests of
 * applications.
 */
class H2ModesTests {

	@Slow
	@ParameterizedTest
	@ValueSource(strings = { "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE;DEFAULT_NULL_ORDERING=HIGH",
			"MODE=MariaDB;DATABASE_TO_LOWER=TRUE", "MODE=MySQL;CASE_INSENSITIVE_IDENTIFIERS=TRUE", "MODE=MSSQLServer",
			"MODE=DB2", "MODE=Derby", "MODE=HSQLDB", "MODE=LEGACY", "MODE=STRICT", "CASE_INSENSITIVE_IDENTIFIERS=TRUE",
			"DATABASE_TO_UPPER=FALSE" })
	void locksExcludeEachOtherInEveryMode(String settings) throws Exception {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";" + settings);
			LocksUnderSettings.assertExcludeEachOther(pool);
		}
	}

	@Test
	void emptyTextThatIsNullIsRejected() {
		try (HikariDataSource pool = new HikariDataSource()) {
			pool.setJdbcUrl("jdbc:h2:mem:" + UUID.randomUUID() + ";MODE=Oracle");
			JdbcContract.createTables(pool);
			JdbcLockBackend store = JdbcContract.backend(pool);
			assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(store::verify)
				.withMessageContaining("treats an empty text as NULL");
			store.close();
		}
	}

}
