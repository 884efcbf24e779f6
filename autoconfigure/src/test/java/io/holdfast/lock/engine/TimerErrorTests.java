package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;

import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for an unexpected error while a timer is set, such as one of too little memory.
 */
class TimerErrorTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private static final LockName OTHER = LockName.of("stock", "other");

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
		failingAcquisition(LockRequest.forLock(OTHER).leaseTime(LEASE.dividedBy(2)));
		assertRenewed(earlier);
	}

	@Test
	void leasesThatAreDueAreRenewedAfterAnErrorInTheTimer() {
		LockHandle handle = this.fixture.acquired(request().leaseTime(LEASE));
		this.fixture.time.failTimerAfter(0);
		advanceWithError(LEASE.dividedBy(3));
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
		LockHandle second = this.fixture.acquired(LockRequest.forLock(OTHER));
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

	/** The error ends the task that sends the retries. */
	@Test
	void releasesAreRetriedAfterAnErrorInARetry() {
		LockHandle first = this.fixture.acquired(request());
		LockHandle second = this.fixture.acquired(LockRequest.forLock(OTHER));
		this.backend.releases.add(TimerErrorTests::unconfirmed);
		this.backend.releases.add(TimerErrorTests::unconfirmed);
		first.close();
		this.fixture.time.failTimerAfter(0);
		advanceWithError(Duration.ofSeconds(1));
		this.backend.releases.add(TimerErrorTests::unconfirmed);
		second.close();
		this.fixture.time.advance(Duration.ofSeconds(1));
		this.fixture.assertNothingLeft();
	}

	private static CompletableFuture<ReleaseResult> unconfirmed(Grant grant) {
		return CompletableFuture.completedFuture(new ReleaseResult.Indeterminate(new TimeoutException()));
	}

	/** No response to a renewal sets the next timer. */
	@Test
	void laterLeasesAreRenewedAfterAnErrorAtTheEndOfOne() {
		LockHandle later = this.fixture.acquired(request().leaseTime(LEASE));
		try (LockHandle lost = notRenewed(LEASE.dividedBy(6))) {
			this.fixture.time.failTimerAfter(0);
			advanceWithError(LEASE.dividedBy(6));
		}
		assertRenewed(later);
	}

	/** The release of a lost lease plans its retry while another lease is due. */
	@Test
	void leasesThatAreDueAreRenewedAfterAnErrorInALoss() {
		LockHandle due = this.fixture.acquired(request().leaseTime(LEASE));
		try (LockHandle lost = notRenewed(LEASE.dividedBy(3))) {
			this.backend.releases.add(TimerErrorTests::unconfirmed);
			this.fixture.time.failTimerAfter(1);
			this.fixture.time.advance(LEASE.dividedBy(3));
			this.backend.owners.remove(lost.lock());
		}
		assertRenewed(due);
	}

	/** The response is there while the hold is closed. */
	@Test
	void lockIsFreeAfterAnErrorInTheRetryOfItsRelease() {
		LockHandle handle = this.fixture.acquired(request());
		this.backend.releases.add(TimerErrorTests::unconfirmed);
		this.fixture.time.failTimerAfter(0);
		handle.close();
		this.backend.owners.clear();
		this.fixture.acquired(request()).close();
		this.fixture.assertNothingLeft();
	}

	/** Otherwise, it would be renewed until the JVM exits. */
	@Test
	void leaseWhoseTurnCannotEndIsReleased() {
		LockHandle first = this.fixture.acquired(request().leaseTime(LEASE));
		CompletableFuture<LockHandle> second = this.fixture.acquire(request().leaseTime(LEASE).waitTime(LEASE));
		this.fixture.time.failTimerAfter(0);
		first.close();
		this.fixture.time.advance(LEASE.dividedBy(2));
		assertThat(second).isCompleted();
		assertRenewed(second.join());
	}

	/** Formatting may take more stack than is left. */
	@Test
	void lockIsFreeAfterAnErrorInTheMessageOfItsRelease() {
		LockHandle handle = this.fixture.acquired(request());
		this.backend.releases
			.add((grant) -> CompletableFuture.completedFuture(new ReleaseResult.Indeterminate(new TimeoutException() {
				@Override
				public String getMessage() {
					throw new StackOverflowError();
				}
			})));
		handle.close();
		this.fixture.time.advance(Duration.ofSeconds(1));
		this.fixture.acquired(request()).close();
		this.fixture.assertNothingLeft();
	}

	private LockHandle notRenewed(Duration lease) {
		return this.fixture.acquired(LockRequest.forLock(OTHER).leaseTime(lease).renew(false));
	}

	private void advanceWithError(Duration time) {
		assertThatExceptionOfType(NoClassDefFoundError.class).as("for the log")
			.isThrownBy(() -> this.fixture.time.advance(time));
	}

}
