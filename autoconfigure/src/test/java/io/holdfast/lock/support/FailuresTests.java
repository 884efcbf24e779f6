package io.holdfast.lock.support;

import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link Failures}.
 */
class FailuresTests {

	@Test
	void rootCauseIsDescribedWithoutAFinalPeriod() {
		Exception readOnly = new IllegalStateException("READONLY You can't write against a read only replica.");
		assertThat(Failures.rootMessage(new RuntimeException("failed", readOnly)))
			.isEqualTo("IllegalStateException: READONLY You can't write against a read only replica");
		assertThat(Failures.rootMessage(new ConnectException("Connection refused")))
			.isEqualTo("ConnectException: Connection refused");
		assertThat(Failures.rootMessage(new ConnectException())).isEqualTo("ConnectException");
	}

	@Test
	void internalClassIsNotNamed() {
		assertThat(Failures.rootMessage(new Internal("no response in time")))
			.isEqualTo("TimeoutException: no response in time");
	}

	/** Kotlin throws checked exceptions undeclared. */
	@Test
	void undeclaredExceptionOfATaskDoesNotStopTheOthers() {
		List<String> run = new ArrayList<>();
		assertThatExceptionOfType(UndeclaredThrowableException.class).isThrownBy(() -> Failures
			.runAll(List.of(() -> FailuresTests.<RuntimeException>throwUndeclared(new IOException("boom")),
					() -> run.add("second"))))
			.withCauseInstanceOf(IOException.class);
		assertThat(run).containsExactly("second");
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void throwUndeclared(Throwable failure) throws E {
		throw (E) failure;
	}

	private static final class Internal extends TimeoutException {

		private static final long serialVersionUID = 1L;

		Internal(String message) {
			super(message);
		}

	}

}
