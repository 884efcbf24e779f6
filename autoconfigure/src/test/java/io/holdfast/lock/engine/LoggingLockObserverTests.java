package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.spi.TransactionBoundary;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link LoggingLockObserver}.
 */
@ExtendWith(OutputCaptureExtension.class)
class LoggingLockObserverTests {

	private final Logger logger = (Logger) LoggerFactory.getLogger(LockEngine.class);

	private final LockEngine engine = new LockEngine(new LockBackends(List.of(new LocalLockBackend()), "local"),
			EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of());

	@AfterEach
	void reset() {
		this.logger.setLevel(null);
		this.engine.close();
	}

	private void acquireTwice() {
		LockRequest request = LockRequest.forLock(EngineFixture.LOCK).waitTime(Duration.ZERO).build();
		try (LockHandle held = this.engine.acquire(request)) {
			assertThat(this.engine.tryAcquireAsync(request).toCompletableFuture().join()).isEmpty();
		}
	}

	@Test
	void oneLockCanBeFollowedFromRequestToReleaseAtDebug(CapturedOutput output) {
		this.logger.setLevel(Level.DEBUG);
		acquireTwice();
		assertThat(output.getAll().lines().filter((line) -> line.contains("Lock 'stock:42' (backend local) ")))
			.satisfiesExactly((line) -> assertThat(line).contains("is requested"),
					(line) -> assertThat(line).contains("is acquired after").contains("lease 30s"),
					(line) -> assertThat(line).contains("has token "),
					(line) -> assertThat(line).contains("is requested"),
					(line) -> assertThat(line).contains("is not acquired: skipped after"),
					(line) -> assertThat(line).contains("is released after"));
	}

	@Test
	void lossNamesHolderAndLease(CapturedOutput output) {
		LockRequest shortLease = LockRequest.forLock(EngineFixture.LOCK)
			.leaseTime(Duration.ofMillis(20))
			.renew(false)
			.build();
		try (LockHandle held = this.engine.acquire(shortLease)) {
			await().untilAsserted(() -> assertThat(output).contains("Lock 'stock:42' was lost"));
			assertThat(output.getAll().lines().filter((line) -> line.contains("was lost"))).singleElement()
				.asString()
				.contains("WARN", "backend local", "lease 20ms", "token " + held.fencingToken(),
						"owner " + held.ownerId());
		}
	}

	@Test
	void nothingIsLoggedAtInfo(CapturedOutput output) {
		this.logger.setLevel(Level.INFO);
		acquireTwice();
		assertThat(output.getAll()).doesNotContain("stock:42");
	}

}
