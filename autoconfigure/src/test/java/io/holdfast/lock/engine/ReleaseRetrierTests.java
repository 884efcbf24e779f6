package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link ReleaseRetrier}: releases and withdrawals that the store does not
 * confirm for a while.
 */
@ExtendWith(OutputCaptureExtension.class)
class ReleaseRetrierTests {

	private static final Duration LEASE = Duration.ofSeconds(30);

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	private final ManualTime time = this.fixture.time;

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void thousandsOfReleasesCompleteAfterAnOutage(boolean sessionBound) {
		this.backend.capabilities = sessionBound ? FakeBackend.capableOf(Capability.SESSION_BOUND)
				: FakeBackend.capableOf();
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < 1_500; i++) {
			handles.add(this.fixture.acquired(LockRequest.forLock(stock(i))));
		}
		outage(1_500 * 20);
		handles.forEach(LockHandle::close);
		this.time.advance(Duration.ofSeconds(3));
		assertThat(this.backend.owners).hasSize(1_500);
		this.backend.releases.clear();
		this.time.advance(Duration.ofSeconds(3));
		this.fixture.assertNothingLeft();
	}

	@Test
	void unavailableStoreIsNotOverrunByRetries() {
		this.backend.capabilities = FakeBackend.capableOf(Capability.SESSION_BOUND);
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < 1_500; i++) {
			handles.add(this.fixture.acquired(LockRequest.forLock(stock(i))));
		}
		outage(100_000);
		handles.forEach(LockHandle::close);
		this.backend.calls.clear();
		this.time.advance(Duration.ofSeconds(10));
		assertThat(this.backend.calls.size()).as("at most 64 after each pause of up to two seconds")
			.isBetween(1, 64 * 10);
		this.backend.releases.clear();
		this.time.advance(Duration.ofSeconds(3));
		this.fixture.assertNothingLeft();
	}

	@Test
	void unansweredRetriesAreBounded() {
		this.backend.capabilities = FakeBackend.capableOf(Capability.SESSION_BOUND);
		List<LockHandle> handles = new ArrayList<>();
		for (int i = 0; i < 500; i++) {
			handles.add(this.fixture.acquired(LockRequest.forLock(stock(i))));
		}
		for (int i = 0; i < 5_000; i++) {
			this.backend.releases.add((grant) -> new CompletableFuture<>());
		}
		handles.forEach(LockHandle::close);
		this.time.advance(Duration.ofSeconds(1));
		this.backend.calls.clear();
		this.time.advance(Duration.ofMillis(900));
		assertThat(this.backend.calls).hasSize(64);
		this.backend.releases.clear();
		this.time.advance(Duration.ofSeconds(3));
		this.fixture.assertNothingLeft();
	}

	@Test
	void releaseAtASessionStoreIsRetriedBeyondTheLease() {
		this.backend.capabilities = FakeBackend.capableOf(Capability.SESSION_BOUND);
		LockHandle handle = this.fixture.acquired(request());
		outage(1_000);
		handle.close();
		this.time.advance(LEASE.multipliedBy(10));
		this.backend.releases.clear();
		this.time.advance(Duration.ofSeconds(3));
		this.fixture.assertNothingLeft();
	}

	@Test
	void withdrawalAtASessionStoreIsRetriedBeyondTheLease() {
		this.backend.capabilities = FakeBackend.capableOf(Capability.SESSION_BOUND);
		for (int i = 0; i < 1_000; i++) {
			this.backend.withdrawals.add((claim) -> CompletableFuture.failedFuture(new TimeoutException("away")));
		}
		this.backend.heldByAnother(LOCK);
		this.fixture.acquire(request()).cancel(false);
		this.time.advance(LEASE.multipliedBy(10));
		this.backend.withdrawals.clear();
		this.backend.calls.clear();
		this.time.advance(Duration.ofSeconds(3));
		assertThat(this.backend.calls).containsExactly("abandon stock:42");
		assertThat(this.time.planned()).as("timers").isZero();
	}

	/** In an outage, each failed acquisition leaves a withdrawal, and thereby memory. */
	@Slow
	@Test
	void lockIsNotRequestedWhileTooManyWithdrawalsAreUnconfirmed() {
		this.backend.capabilities = FakeBackend.capableOf(Capability.SESSION_BOUND);
		for (int i = 0; i < Retries.MOST_UNCONFIRMED; i++) {
			this.backend.acquires.add((claim) -> CompletableFuture
				.completedFuture(new AcquireResult.Indeterminate(new TimeoutException("away"))));
			this.backend.withdrawals.add((claim) -> CompletableFuture.failedFuture(new TimeoutException("away")));
			assertThat(this.fixture.acquire(request().waitTime(Duration.ZERO))).isCompletedExceptionally();
		}
		this.backend.calls.clear();
		assertThat(this.fixture.acquire(request())).isCompletedExceptionally()
			.failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockBackendException.class)
			.withMessageContainingAll("Lock 'stock:42' was not requested",
					"backend fake has not confirmed 10000 earlier releases and withdrawals");
		assertThat(this.backend.calls).isEmpty();
		this.time.advance(Duration.ofSeconds(30));
		this.fixture.acquired(request()).close();
		this.fixture.assertNothingLeft();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void withdrawalRefusedByASessionStoreIsRetriedRarely(boolean silentFirst, CapturedOutput output) {
		this.backend.capabilities = FakeBackend.capableOf(Capability.SESSION_BOUND);
		this.backend.heldByAnother(LOCK);
		if (silentFirst) {
			this.backend.withdrawals.add((claim) -> CompletableFuture.failedFuture(new TimeoutException("away")));
		}
		for (int i = 0; i < 1_000; i++) {
			this.backend.withdrawals.add((claim) -> CompletableFuture.failedFuture(
					new LockBackendException(claim.lock(), "fake", "permission denied", new IllegalStateException())));
		}
		this.fixture.acquire(request()).cancel(false);
		this.fixture.acquire(request()).cancel(false);
		this.time.advance(Retries.LONGEST_REST.multipliedBy(2));
		this.backend.calls.clear();
		this.time.advance(Retries.LONGEST_REST.multipliedBy(5));
		assertThat(this.backend.calls).hasSize(2 * 5).containsOnly("abandon stock:42");
		assertThat(output.getAll().lines().filter((line) -> line.contains("permission denied"))).singleElement()
			.asString()
			.contains("WARN", "stock:42", "Backend fake rejects");
		this.backend.withdrawals.clear();
		this.time.advance(Retries.LONGEST_REST);
		assertThat(this.time.planned()).as("timers").isZero();
	}

	@Test
	void requestsRefusedByASessionStoreAreReportedOnClose(CapturedOutput output) {
		this.backend.capabilities = FakeBackend.capableOf(Capability.SESSION_BOUND);
		LockHandle handle = this.fixture.acquired(request());
		for (int i = 0; i < 1_000; i++) {
			this.backend.releases.add((grant) -> CompletableFuture.failedFuture(
					new LockBackendException(LOCK, "fake", "permission denied", new IllegalStateException())));
		}
		handle.close();
		this.fixture.engine.close();
		assertThat(output)
			.contains("releases and withdrawals that backend fake had not confirmed when the application stopped: 1.");
		this.backend.calls.clear();
		this.time.advance(Retries.LONGEST_REST.multipliedBy(2));
		assertThat(this.backend.calls).isEmpty();
	}

	@Test
	void unconfirmedReleaseIsLoggedWithItsCause(CapturedOutput output) {
		LockHandle handle = this.fixture.acquired(request());
		this.backend.releases.add((grant) -> CompletableFuture
			.completedFuture(new ReleaseResult.Indeterminate(new TimeoutException("No response within 1s"))));
		handle.close();
		assertThat(output).contains(
				"The release of lock 'stock:42' was not confirmed by backend fake (TimeoutException: No response within 1s) and is retried.");
	}

	/** Each failed call of a busy application would log a warning in an outage. */
	@Test
	void firstReleaseOfAnOutageThatWasNeverConfirmedIsAWarning(CapturedOutput output) {
		for (int outages = 1; outages <= 2; outages++) {
			List<LockHandle> handles = List.of(this.fixture.acquired(LockRequest.forLock(stock(1))),
					this.fixture.acquired(LockRequest.forLock(stock(2))));
			outage(1_000);
			handles.forEach(LockHandle::close);
			this.time.advance(LEASE.multipliedBy(2));
			assertThat(output.getAll().lines().filter((line) -> line.contains("never confirmed"))).hasSize(outages)
				.allSatisfy((line) -> assertThat(line).contains("WARN", "backend fake"));
			this.backend.owners.clear();
			this.backend.releases.clear();
		}
		this.fixture.assertNothingLeft();
	}

	@Test
	void releaseAtALeaseStoreIsNotRetriedAfterExpiry() {
		LockHandle handle = this.fixture.acquired(request());
		outage(1_000);
		handle.close();
		this.time.advance(LEASE.plusSeconds(5));
		this.backend.calls.clear();
		this.time.advance(LEASE);
		assertThat(this.backend.calls).isEmpty();
		assertThat(this.time.planned()).as("timers").isZero();
	}

	@Test
	void nothingIsRetriedOnceTheEngineIsClosed() {
		this.backend.capabilities = FakeBackend.capableOf(Capability.SESSION_BOUND);
		LockHandle handle = this.fixture.acquired(request());
		outage(1_000);
		handle.close();
		CompletableFuture<Void> closed = CompletableFuture.runAsync(this.fixture.engine::close);
		Awaitility.await("the close, which awaits the release for a while").until(() -> {
			this.time.advance(Duration.ofSeconds(1));
			return closed.isDone();
		});
		this.backend.calls.clear();
		this.time.advance(LEASE);
		assertThat(this.backend.calls).isEmpty();
	}

	private void outage(int requests) {
		for (int i = 0; i < requests; i++) {
			this.backend.releases.add(ReleaseRetrierTests::unreachable);
		}
	}

	private static CompletableFuture<ReleaseResult> unreachable(Grant grant) {
		return CompletableFuture.failedFuture(new TimeoutException("away: " + grant.claim().lock()));
	}

	private static LockName stock(int number) {
		return LockName.of("stock", "" + number);
	}

	/**
	 * A slow log gives the store time to respond to the retry before the first response
	 * is delivered.
	 */
	@Test
	void responseToARetryDuringTheFirstResponseLeavesItsPlace() {
		LockHandle paused = this.fixture.acquired(LockRequest.forLock(stock(0)));
		this.backend.releases.add((grant) -> CompletableFuture.failedFuture(new IllegalStateException("down")));
		paused.close();
		for (int i = 1; i <= 64; i++) {
			LockHandle handle = this.fixture.acquired(LockRequest.forLock(stock(i)));
			this.backend.releases
				.add((grant) -> CompletableFuture.completedFuture(new ReleaseResult.Indeterminate(new SlowlyLogged())));
			handle.close();
		}
		LockHandle last = this.fixture.acquired(LockRequest.forLock(stock(65)));
		this.backend.releases.add((grant) -> CompletableFuture.failedFuture(new IllegalStateException("down")));
		last.close();
		this.time.advance(Duration.ofSeconds(10));
		this.fixture.assertNothingLeft();
	}

	/** Its text takes two seconds. */
	private final class SlowlyLogged extends RuntimeException {

		private boolean logged;

		@Override
		public String toString() {
			if (!this.logged) {
				this.logged = true;
				ReleaseRetrierTests.this.time.advance(Duration.ofSeconds(2));
			}
			return "down";
		}

	}

}
