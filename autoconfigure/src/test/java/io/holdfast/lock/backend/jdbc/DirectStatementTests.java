package io.holdfast.lock.backend.jdbc;

import java.util.List;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link DirectStatement}.
 */
class DirectStatementTests {

	@Test
	void namedParametersBecomePositions() {
		DirectStatement statement = DirectStatement.of("UPDATE t SET a = :lease + :lease WHERE b = :id", 0);
		assertThat(statement.text()).isEqualTo("UPDATE t SET a = ? + ? WHERE b = ?");
		assertThat(statement.names()).containsExactly("lease", "lease", "id");
	}

	@Test
	void castsAndTimesOfDayAreNoParameters() {
		String text = "SELECT '1970-01-01 00:00:00Z', b::text FROM t";
		assertThat(DirectStatement.of(text, 0)).isEqualTo(new DirectStatement(text, List.of(), 0));
	}

	@ParameterizedTest
	@EnumSource
	void statementsUseKnownParametersOnly(JdbcDialect dialect) {
		JdbcStatements statements = new JdbcStatements(dialect, "locks", 1);
		assertThat(Stream.of(statements.acquire, statements.markWriter)).allSatisfy((statement) -> {
			assertThat(statement.names()).isSubsetOf("id", "name", "owner", "lease", "mark", "token").contains("id");
			assertThat(statement.text()).doesNotContain("${");
		});
	}

}
