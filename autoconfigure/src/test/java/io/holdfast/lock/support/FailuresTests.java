package io.holdfast.lock.support;

import java.io.IOException;
import java.lang.reflect.UndeclaredThrowableException;
import java.net.ConnectException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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

	@ParameterizedTest
	@ValueSource(strings = { ", command: (EVALSHA), params: [1, {stock:42}:lock], channel: [id: 0x1, L:/127.0.0.1:1]",
			"; Command: (SET), params: [stock, secret]",
			". channel: [id: 0x1, L:/127.0.0.1:1] data: CommandData [command=(EVALSHA), params: [1]]",
			" script: 85cb, on @user_script:14.. channel: [id: 0x1] data: CommandData [command=(EVALSHA)]" })
	void detailsThatAClientOfRedisAppendsAreOmitted(String details) {
		assertThat(Failures.rootMessage(new IllegalStateException("TRYAGAIN Multiple keys request" + details)))
			.isEqualTo("IllegalStateException: TRYAGAIN Multiple keys request");
	}

	@Test
	void commandInTheTextOfAnErrorIsKept() {
		assertThat(Failures.rootMessage(new IllegalStateException("Unknown command: stock, channel: 7")))
			.isEqualTo("IllegalStateException: Unknown command: stock, channel: 7");
	}

	@Test
	void lineBreaksOfAMessageAreReplaced() {
		assertThat(Failures
			.rootMessage(new IllegalStateException("ERROR: could not extend file\n  Hint: Check free disk space.\r\n")))
			.isEqualTo("IllegalStateException: ERROR: could not extend file Hint: Check free disk space");
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
