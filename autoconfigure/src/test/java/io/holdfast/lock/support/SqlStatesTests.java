package io.holdfast.lock.support;

import java.sql.SQLException;

import org.junit.jupiter.api.Test;

import org.springframework.jdbc.UncategorizedSQLException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link SqlStates}.
 */
class SqlStatesTests {

	@Test
	void stateOfACauseCounts() {
		UncategorizedSQLException wrapped = new UncategorizedSQLException("insert", "INSERT",
				new SQLException("denied", SqlStates.PERMISSION_DENIED));
		assertThat(SqlStates.deniesRight(wrapped)).isTrue();
		assertThat(SqlStates.startsWith(wrapped, "42")).isTrue();
		assertThat(SqlStates.lacksColumn(wrapped)).isFalse();
	}

	@Test
	void failureWithoutAStateHasNone() {
		assertThat(SqlStates.startsWith(new SQLException("pool is closed"), "")).isFalse();
		assertThat(SqlStates.startsWith(new SQLException("any", "HY000"), "")).isTrue();
	}

}
