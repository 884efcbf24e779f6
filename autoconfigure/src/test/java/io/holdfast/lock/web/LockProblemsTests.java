package io.holdfast.lock.web;

import java.time.Duration;
import java.util.Map;
import java.util.function.Supplier;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.http.ProblemDetail;

import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockNotAcquiredException.Reason;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * Tests for the texts of {@link LockProblems}.
 */
class LockProblemsTests {

	private final LockProblems problems = new LockProblems(409, Duration.ofSeconds(1));

	/** Mockito creates the exception of {@code willThrow(Type.class)} in this way. */
	@Test
	void exceptionThatAMockCreatesWithoutItsConstructorIsAnswered() {
		Supplier<?> sales = mock();
		given(sales.get()).willThrow(LockNotAcquiredException.class);
		LockNotAcquiredException created = catchThrowableOfType(LockNotAcquiredException.class, sales::get);
		ProblemDetail problem = this.problems.respond(created).getBody();
		assertThat(problem).isNotNull();
		assertThat(problem.getStatus()).isEqualTo(409);
		assertThat(problem.getDetail()).isEqualTo("Another holder has the lock. Repeat the call later.");
	}

	/** A short duration may be the time of an attempt that did not wait. */
	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			PT0S      | PT0S   | Another holder has lock 'stock:42'. Repeat the call later.
			PT0.0009S | PT0S   | Another holder has lock 'stock:42'. Repeat the call later.
			PT0.001S  | PT0.001S | Another holder still had lock 'stock:42' after 1ms. Repeat the call later.
			PT0.5S    | PT0.5S | Another holder still had lock 'stock:42' after 500ms. Repeat the call later.
			""")
	void refusalNamesTheWaitIfThereWasOne(Duration waited, String property, String detail) {
		ProblemDetail problem = this.problems
			.respond(new LockNotAcquiredException(LockName.of("stock", "42"), "redis", waited, Reason.HELD, "held"))
			.getBody();
		assertThat(problem).isNotNull();
		assertThat(problem.getStatus()).isEqualTo(409);
		assertThat(problem.getDetail()).isEqualTo(detail);
		assertThat(problem.getProperties()).isEqualTo(Map.of("lock", "stock:42", "waited", property, "reason", "held"));
	}

}
