package io.holdfast.lock.engine;

import java.time.Duration;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;

import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for an unexpected error while a timer is set, such as one of too little memory.
 */
class TimerErrorTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final EngineFixture fixture = new EngineFixture();

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

}
