package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.ReleaseResult;

import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for an unexpected error while a timer is set, such as one of too little memory.
 */
class TimerErrorTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	private void assertRenewed(LockHandle handle) {
		this.fixture.time.advance(LEASE.plusSeconds(1));
		assertThat(handle.isHeld()).isTrue();
		handle.close();
		this.fixture.assertNothingLeft();
	}

	private void failingAcquisition(LockRequest.Builder request) {
		this.fixture.time.failTimerAfter(0);
		assertThat(this.fixture.acquire(request)).isCompletedExceptionally();
	}

	@Test
	void laterLeasesAreRenewedAfterAnErrorInAnAcquisition() {
		failingAcquisition(request());
		assertRenewed(this.fixture.acquired(request().leaseTime(LEASE)));
	}

	@Test
	void earlierLeasesAreRenewedAfterAnErrorInAnAcquisition() {
		LockHandle earlier = this.fixture.acquired(request().leaseTime(LEASE));
		failingAcquisition(LockRequest.forLock(LockName.of("stock", "other")).leaseTime(LEASE.dividedBy(2)));
		assertRenewed(earlier);
	}

	@Test
	void leasesThatAreDueAreRenewedAfterAnErrorInTheTimer() {
		LockHandle handle = this.fixture.acquired(request().leaseTime(LEASE));
		this.fixture.time.failTimerAfter(0);
		assertThatExceptionOfType(NoClassDefFoundError.class).as("for the log")
			.isThrownBy(() -> this.fixture.time.advance(LEASE.dividedBy(3)));
		assertRenewed(handle);
	}

	/** Otherwise, the release would wait for the end of the renewal. */
	@Test
	void renewalThatCannotTimeOutFails() {
		LockHandle handle = this.fixture.acquired(request().leaseTime(LEASE));
		this.backend.renewals.add((grant) -> new CompletableFuture<>());
		this.fixture.time.failTimerAfter(1);
		this.fixture.time.advance(LEASE.dividedBy(3));
		assertThat(this.backend.batches).hasSize(1);
		assertRenewed(handle);
	}

	/** Otherwise, the next caller of this JVM would wait for the response. */
	@Test
	void releaseThatCannotTimeOutIsRetried() {
		LockHandle handle = this.fixture.acquired(request());
		this.backend.releases.add((grant) -> new CompletableFuture<>());
		this.fixture.time.failTimerAfter(0);
		handle.close();
		this.fixture.time.advance(Duration.ofSeconds(1));
		this.fixture.assertNothingLeft();
	}

	/** The first release is retried together with the next one that is unconfirmed. */
	@Test
	void releasesAreRetriedAfterAnErrorInOne() {
		CompletableFuture<ReleaseResult> unknown = new CompletableFuture<>();
		LockHandle first = this.fixture.acquired(request());
		LockHandle second = this.fixture.acquired(LockRequest.forLock(LockName.of("stock", "other")));
		this.backend.releases.add((grant) -> unknown);
		first.close();
		this.fixture.time.failTimerAfter(0);
		unknown.complete(new ReleaseResult.Indeterminate(new TimeoutException()));
		this.backend.releases
			.add((grant) -> CompletableFuture.failedFuture(new TimeoutException("no response in time")));
		second.close();
		this.fixture.time.advance(Duration.ofSeconds(1));
		this.fixture.assertNothingLeft();
	}

}
