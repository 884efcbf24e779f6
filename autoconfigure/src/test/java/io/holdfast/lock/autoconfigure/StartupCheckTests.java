package io.holdfast.lock.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.test.Slow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link StartupCheck}.
 */
@ExtendWith(OutputCaptureExtension.class)
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class StartupCheckTests {

	private final AtomicInteger attempts = new AtomicInteger();

	private final AtomicInteger closed = new AtomicInteger();

	private final AtomicLong reads = new AtomicLong();

	private volatile boolean loads;

	@Test
	void storeThatAnswersLateIsUsed(CapturedOutput output) {
		run(Duration.ofMinutes(5), () -> failUntilAttempt(4));
		assertThat(this.attempts).hasValue(4);
		assertThat(this.closed).hasValue(0);
		assertThat(output).contains("the shop's store cannot be used yet. Retrying for up to 300s: not yet");
	}

	@Test
	void storeThatStaysUnreachableStopsTheStart() {
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> run(Duration.ofMillis(200), () -> failUntilAttempt(Integer.MAX_VALUE)))
			.withMessageContaining("Locks are kept in the shop's store, which could not be used within 200ms: not yet.")
			.satisfies((ex) -> assertThat(ex.remedies()).contains("Start it."));
		assertThat(this.closed).hasValue(1);
	}

	@Test
	void permanentFailureIsReportedImmediately() {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> run(Duration.ofMinutes(5), () -> {
			this.attempts.incrementAndGet();
			throw new LockConfigurationException("wrong password");
		})).withMessage("wrong password");
		assertThat(this.attempts).hasValue(1);
		assertThat(this.closed).hasValue(1);
	}

	@Slow
	@Test
	void storeThatNeverAnswersStopsTheStart() throws Exception {
		CountDownLatch interrupted = new CountDownLatch(1);
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> run(Duration.ofMillis(200), () -> neverAnswer(interrupted)))
			.withMessageContaining(
					"Locks are kept in the shop's store, which could not be used within 200ms: it did not respond.");
		assertThat(this.closed).hasValue(1);
		interrupted.await();
	}

	@Test
	void slowFirstAttemptIsAwaitedBeyondTheTimeout() {
		run(Duration.ZERO, () -> awaitReads(1));
		assertThat(this.closed).hasValue(0);
	}

	@Slow
	@Test
	void classLoadingTimeHardlyCounts() {
		this.loads = true;
		run(Duration.ofSeconds(1), () -> {
			failUntilAttempt(2);
			awaitReads(6);
		});
		assertThat(this.closed).hasValue(0);
	}

	@Test
	void endlessClassLoadingEndsTheCheck() {
		this.loads = true;
		assertThatExceptionOfType(StoreUnavailableException.class)
			.isThrownBy(() -> run(Duration.ofMillis(50), () -> failUntilAttempt(Integer.MAX_VALUE)))
			.withMessageContaining("not yet");
	}

	@Test
	void interruptEndsTheCheckAndIsKept() {
		Thread starter = Thread.currentThread();
		assertThatExceptionOfType(StoreUnavailableException.class).isThrownBy(() -> run(Duration.ofMinutes(5), () -> {
			starter.interrupt();
			neverAnswer(new CountDownLatch(1));
		}));
		assertThat(Thread.interrupted()).isTrue();
	}

	@Test
	void optionalStoreIsTriedOnce(CapturedOutput output) {
		check(Duration.ofMinutes(5)).runOnce(() -> failUntilAttempt(2), this.closed::incrementAndGet);
		assertThat(this.attempts).hasValue(1);
		assertThat(this.closed).hasValue(0);
		assertThat(output).containsOnlyOnce("not yet")
			.contains("The application starts without the shop's store, whose locks fail until it is available");
	}

	@Slow
	@Test
	void optionalStoreIsNotAwaitedBeyondTheTimeout(CapturedOutput output) {
		CountDownLatch interrupted = new CountDownLatch(1);
		check(Duration.ofMillis(200)).runOnce(() -> neverAnswer(interrupted), this.closed::incrementAndGet);
		assertThat(output).contains("it did not respond");
	}

	@Test
	void analysisListsTheRemedies() {
		StoreUnavailableException failure = new StoreUnavailableException("It is away.",
				List.of("Start it.", "Set another."), new LockBackendException("away"));
		FailureAnalysis analysis = new StoreUnavailableFailureAnalyzer().analyze(new IllegalStateException(failure));
		assertThat(analysis).isNotNull();
		assertThat(analysis.getDescription()).isEqualTo("It is away.");
		assertThat(analysis.getAction())
			.isEqualToNormalizingNewlines("Consider one of the following:\n\n    - Start it.\n    - Set another.");
	}

	private void failUntilAttempt(int number) {
		if (this.attempts.incrementAndGet() < number) {
			throw new LockBackendException("not yet");
		}
	}

	private static void neverAnswer(CountDownLatch interrupted) {
		try {
			new CountDownLatch(1).await();
		}
		catch (InterruptedException ex) {
			interrupted.countDown();
		}
	}

	/** Waits until the check has read the count of loaded classes several more times. */
	private void awaitReads(int number) {
		long present = this.reads.get();
		Awaitility.await().until(() -> this.reads.get() > present + 2 * number);
	}

	private long loadedClasses() {
		long read = this.reads.incrementAndGet();
		return this.loads ? read : 0;
	}

	private void run(Duration timeout, Runnable attempt) {
		check(timeout).run(attempt, this.closed::incrementAndGet);
	}

	private StartupCheck check(Duration timeout) {
		return new StartupCheck("the shop's store", timeout, this::loadedClasses, List.of("Start it."));
	}

}
