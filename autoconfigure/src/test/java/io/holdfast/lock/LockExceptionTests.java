package io.holdfast.lock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.engine.EngineSettings;
import io.holdfast.lock.engine.LockBackends;
import io.holdfast.lock.engine.LockEngine;
import io.holdfast.lock.spi.TransactionBoundary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for the properties of lock exceptions, besides their messages.
 */
class LockExceptionTests {

	private static final LockName LOCK = LockName.of("stock", "42");

	@AutoClose
	private final LockEngine engine = new LockEngine(new LockBackends(List.of(new LocalLockBackend()), "local"),
			EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of());

	private static LockRequest request(Duration wait) {
		return LockRequest.forLock(LOCK).waitTime(wait).build();
	}

	private LockHandle heldElsewhere() {
		return this.engine.acquireAsync(request(Duration.ZERO)).toCompletableFuture().join();
	}

	@Test
	void refusalNamesLockBackendWaitAndReason() {
		LockHandle held = heldElsewhere();
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.acquire(request(Duration.ofMillis(20))))
			.satisfies((ex) -> {
				assertThat(ex.lock()).isEqualTo(LOCK);
				assertThat(ex.backend()).isEqualTo("local");
				assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.HELD);
				assertThat(ex.waited()).isGreaterThanOrEqualTo(Duration.ofMillis(20));
			})
			.withMessageContaining("'stock:42' was not acquired within")
			.withMessageNotContaining("0 attempts");
		held.close();
	}

	@Test
	void staleTokenHidesNoFieldOfItsSuperclass() {
		StaleFencingTokenException stale = new StaleFencingTokenException(LOCK, "redis", "A message.");
		assertThat(stale.lock()).isEqualTo(LOCK);
		assertThat(stale.backend()).isEqualTo("redis");
		assertThat(StaleFencingTokenException.class.getDeclaredFields()).filteredOn((field) -> !field.isSynthetic())
			.isEmpty();
	}

	@Test
	void interruptedAcquisitionIsReportedAsInterrupted() {
		LockHandle held = heldElsewhere();
		Thread.currentThread().interrupt();
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.acquire(request(Duration.ofMinutes(1))))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.INTERRUPTED));
		assertThat(Thread.interrupted()).isTrue();
		held.close();
	}

	@Test
	void acquisitionDuringShutdownReportsTheShutdown() {
		this.engine.close();
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.engine.acquire(request(Duration.ZERO)))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(LockNotAcquiredException.Reason.STOPPING));
	}

	@Test
	void closedHandleNamesItsLock() {
		LockHandle held = heldElsewhere();
		held.close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::assertHeld)
			.satisfies((ex) -> assertThat(ex.lock()).isEqualTo(LOCK))
			.satisfies((ex) -> assertThat(ex.backend()).isEqualTo("local"));
	}

	@Test
	void cancelledFutureLeavesNothingHeld() {
		LockHandle held = heldElsewhere();
		CompletableFuture<LockHandle> waiting = this.engine.acquireAsync(request(Duration.ofMinutes(1)))
			.toCompletableFuture();
		waiting.cancel(false);
		held.close();
		this.engine.acquire(request(Duration.ofSeconds(10))).close();
	}

	@Test
	@SuppressWarnings("NullAway")
	void badNamesAndKeysAreLockExceptions() {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> LockRequest.of("stock", null))
			.withMessageContaining("The key of lock 'stock' is null");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> LockRequest.of("stock:42"))
			.withMessageContaining("'stock:42' is not valid");
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> LockName.of("stock", " "));
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> LockName.of("stock", "x".repeat(LockName.MAX_KEY_LENGTH + 1)))
			.withMessageContaining("513 characters");
	}

	@Test
	void durationsInMessagesAreHumanReadable() {
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> request(Duration.ofSeconds(-1)))
			.withMessage("The waitTime of lock 'stock:42' is -1s. Set it between 0s and 366d.");
	}

}
