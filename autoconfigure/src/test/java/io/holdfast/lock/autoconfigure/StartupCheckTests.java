package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link StartupCheck}.
 */
@ExtendWith(OutputCaptureExtension.class)
class StartupCheckTests {

	private final AtomicInteger attempts = new AtomicInteger();

	private final AtomicInteger closed = new AtomicInteger();

	@Test
	void storeThatAnswersLateIsUsed(CapturedOutput output) {
		run(Duration.ofMinutes(5), () -> failUntilAttempt(4));
		assertThat(this.attempts).hasValue(4);
		assertThat(this.closed).hasValue(0);
		assertThat(output).contains("the shop's store cannot be used yet, and is retried for up to 300s: not yet");
	}

	@Test
	void storeThatStaysAwayStopsTheStart() {
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> run(Duration.ofMillis(200), () -> failUntilAttempt(Integer.MAX_VALUE)))
			.withMessageContaining("Locks are kept in the shop's store, which could not be used within 200ms: not yet.")
			.satisfies((ex) -> assertThat(ex.remedies()).contains("Start it."));
		assertThat(this.closed).hasValue(1);
	}

	@Test
	void whatAnotherAttemptDoesNotChangeIsToldAtOnce() {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> run(Duration.ofMinutes(5), () -> {
			this.attempts.incrementAndGet();
			throw new LockConfigurationException("wrong password");
		})).withMessage("wrong password");
		assertThat(this.attempts).hasValue(1);
		assertThat(this.closed).hasValue(1);
	}

	@Test
	void interruptEndsTheCheckAndIsKept() {
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> run(Duration.ofMinutes(5), () -> {
			Thread.currentThread().interrupt();
			throw new LockBackendException("not yet");
		}));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void nothingIsCheckedWhereTheApplicationMayStartWithoutIt() {
		check(Duration.ofMinutes(5), false).run(() -> failUntilAttempt(2), this.closed::incrementAndGet);
		assertThat(this.attempts).hasValue(0);
	}

	@Test
	void analysisListsTheRemedies() {
		StoreUnavailableException failure = new StoreUnavailableException("It is away.",
				List.of("Start it.", "Set another."), new LockBackendException("away"));
		FailureAnalysis analysis = new StoreUnavailableFailureAnalyzer().analyze(new IllegalStateException(failure));
		assertThat(analysis).isNotNull();
		assertThat(analysis.getDescription()).isEqualTo("It is away.");
		assertThat(analysis.getAction())
			.isEqualToNormalizingNewlines("Do one of these:\n\n    - Start it.\n    - Set another.");
	}

	private void failUntilAttempt(int number) {
		if (this.attempts.incrementAndGet() < number) {
			throw new LockBackendException("not yet");
		}
	}

	private void run(Duration timeout, Runnable attempt) {
		check(timeout, true).run(attempt, this.closed::incrementAndGet);
	}

	private static StartupCheck check(Duration timeout, boolean required) {
		return new StartupCheck("the shop's store", required, timeout, "Start it.");
	}

}
