package io.holdfast.lock.backend.jdbc;

import java.util.List;

import org.junit.jupiter.api.Test;

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

}
