package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.engine.AcquisitionObserver.IfRefused;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.AcquireOutcome;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link Acquisition}, through the engine.
 */
class AcquisitionTests {

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	private final ManualTime time = this.fixture.time;

	@Test
	void freeLockIsAcquiredInOneRequestAndReleasedInOne() {
		LockHandle handle = this.fixture.acquired(request());
		assertThat(handle.isHeld()).isTrue();
		handle.close();
		assertThat(this.backend.calls).containsExactly("acquire stock:42", "release stock:42");
		assertThat(this.fixture.record.outcomes).containsExactly(AcquireOutcome.ACQUIRED);
		this.fixture.assertNothingLeft();
	}

	@Test
	void acquisitionThatIsCancelledBeforeItStartsLeavesTheQueueFree() {
		ResolvedRequest terms = ResolvedRequest
			.of(request().build(), new LockBackends(List.of(this.backend), "fake"), EngineSettings.DEFAULTS)
			.get(0);
		Acquisition acquisition = new Acquisition(this.fixture.engine.context(), terms, IfRefused.FAIL, Runnable::run,
				StoreRequest::send);
		acquisition.cancel();
		acquisition.start();
		assertThat(this.backend.calls).isEmpty();
		assertThat(this.fixture.record.outcomes).isEmpty();
		this.fixture.assertNothingLeft();
	}

	@Test
	void signalLeadsToTheNextAttemptWithTheSameOwner() {
		this.backend.heldByAnother(LOCK);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request());
		assertThat(waiting).isNotDone();
		this.backend.freedByAnother(LOCK);
		assertThat(waiting).isCompleted();
		assertThat(this.backend.claims).hasSize(2);
		assertThat(this.backend.claims).extracting(Claim::owner).containsOnly(this.backend.claims.get(0).owner());
		assertThat(this.fixture.record.outcomes).containsExactly(AcquireOutcome.CONTENDED);
	}

	@Test
	void lostSignalIsCompensatedByPolling() {
		this.backend.heldByAnother(LOCK);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request());
		this.backend.owners.clear();
		this.time.advance(this.backend.retryAfter.multipliedBy(2));
		assertThat(waiting).isCompleted();
	}

	@Test
	void timeoutWithdrawsTheClaimAndReportsDetails() {
		this.backend.heldByAnother(LOCK);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request().waitTime(Duration.ofSeconds(3)));
		this.time.advance(Duration.ofSeconds(3));
		assertThat(this.backend.calls).endsWith("abandon stock:42");
		assertThatExceptionOfType(CompletionException.class).isThrownBy(waiting::join)
			.withCauseInstanceOf(LockNotAcquiredException.class)
			.withMessageContaining("Lock 'stock:42' was not acquired")
			.withMessageContaining("3s")
			.withMessageContaining("backend fake")
			.withMessageContaining("lease 30s")
			.withMessageContaining("distributed-lock.wait-time");
		assertThat(this.fixture.record.outcomes).containsExactly(AcquireOutcome.TIMEOUT);
		assertThat(this.time.planned()).as("timers").isZero();
	}

	@Test
	void zeroWaitMakesOneAttemptAndLeavesNothingToWithdraw() {
		this.backend.heldByAnother(LOCK);
		CompletableFuture<Optional<LockHandle>> handle = this.fixture.engine
			.tryAcquireAsync(request().waitTime(Duration.ZERO).build())
			.toCompletableFuture();
		assertThat(handle).isCompletedWithValue(Optional.empty());
		assertThat(this.backend.calls).containsExactly("acquire stock:42");
		assertThat(this.backend.claims.get(0).remainingWait()).isZero();
		assertThat(this.fixture.record.outcomes).containsExactly(AcquireOutcome.SKIPPED);
	}

	@Test
	void unknownOutcomeIsRetriedWithTheSameOwner() {
		this.backend.acquires.add((claim) -> {
			this.backend.answer(claim);
			return CompletableFuture.completedFuture(new AcquireResult.Indeterminate(new TimeoutException("lost")));
		});
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request());
		assertThat(waiting).isNotDone();
		this.time.advance(Duration.ofMillis(100));
		assertThat(waiting).isCompleted();
		assertThat(this.backend.claims).hasSize(2).extracting(Claim::owner).containsOnly(this.backend.owners.get(LOCK));
	}

	/** A later attempt that fails may have undone the grant of an earlier one. */
	@Test
	void grantOfAnEarlierAttemptDoesNotCountOnceALaterOneIsSent() {
		CompletableFuture<AcquireResult> first = new CompletableFuture<>();
		CompletableFuture<AcquireResult> third = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> first);
		this.backend.acquires.add((claim) -> CompletableFuture
			.completedFuture(new AcquireResult.Indeterminate(new TimeoutException("undone"))));
		this.backend.acquires.add((claim) -> third);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request());
		this.time.advance(EngineSettings.DEFAULTS.responseTimeout().plusMillis(100));
		assertThat(this.backend.claims).hasSize(3);
		AcquireResult granted = this.backend.answer(this.backend.claims.get(0));
		first.complete(granted);
		assertThat(waiting).isNotDone();
		third.complete(granted);
		assertThat(waiting).isCompleted();
		waiting.join().close();
		this.fixture.assertNothingLeft();
	}

	/** The store executes the first attempt late, after it has rejected the second. */
	@Test
	void grantOfAnEarlierAttemptEndsTheWaitOfARejectedOne() {
		CompletableFuture<AcquireResult> first = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> first);
		this.backend.heldByAnother(LOCK);
		this.backend.retryAfter = Duration.ofSeconds(30);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request().waitTime(Duration.ofMinutes(1)));
		this.time.advance(EngineSettings.DEFAULTS.responseTimeout().plusMillis(100));
		assertThat(this.backend.claims).hasSize(2);
		this.backend.owners.clear();
		first.complete(this.backend.answer(this.backend.claims.get(0)));
		assertThat(this.backend.claims).hasSize(3);
		assertThat(waiting).isCompleted();
		waiting.join().close();
		this.fixture.assertNothingLeft();
	}

	/** Another connection delivers the grant first. */
	@Test
	void grantOfAnEarlierAttemptIsAskedForAfterALateRejection() {
		CompletableFuture<AcquireResult> first = new CompletableFuture<>();
		CompletableFuture<AcquireResult> second = new CompletableFuture<>();
		this.backend.acquires.addAll(List.of((claim) -> first, (claim) -> second));
		this.backend.heldByAnother(LOCK);
		this.backend.retryAfter = Duration.ofSeconds(30);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request().waitTime(Duration.ofMinutes(1)));
		this.time.advance(EngineSettings.DEFAULTS.responseTimeout().plusMillis(100));
		AcquireResult rejection = this.backend.answer(this.backend.claims.get(1));
		this.backend.owners.clear();
		first.complete(this.backend.answer(this.backend.claims.get(0)));
		second.complete(rejection);
		this.time.advance(Duration.ofMillis(1));
		assertThat(waiting).isCompleted();
		waiting.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void unknownOutcomeUntilTimeoutIsAStoreFailure() {
		CompletableFuture<LockHandle> waiting = neverAnswered(Duration.ofSeconds(2));
		this.time.advance(Duration.ofSeconds(2).plusMillis(250));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(waiting::join)
			.withCauseInstanceOf(LockBackendException.class)
			.withMessageContaining("backend fake did not confirm whether it granted the lock")
			.withMessageContaining("no response in time");
		assertThat(this.backend.calls).endsWith("abandon stock:42");
		assertThat(this.fixture.record.outcomes).containsExactly(AcquireOutcome.ERROR);
	}

	private CompletableFuture<LockHandle> neverAnswered(Duration waitTime) {
		for (int i = 0; i < 50; i++) {
			this.backend.acquires.add((claim) -> new CompletableFuture<>());
		}
		return this.fixture.acquire(request().waitTime(waitTime));
	}

	@Test
	void firstAttemptOfAShortWaitHasTheFullResponseTimeout() {
		CompletableFuture<AcquireResult> answer = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> answer);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request().waitTime(Duration.ofMillis(9)));
		this.time.advance(Duration.ofMillis(990));
		assertThat(waiting).isNotDone();
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		assertThat(waiting).isCompleted();
		waiting.join().close();
		this.fixture.assertNothingLeft();
	}

	/** The acquisition's steps wait for a thread, so no request has been sent yet. */
	@Test
	void expiredWaitStillMakesOneAttempt() {
		Deque<Runnable> steps = new ArrayDeque<>();
		try (LockEngine busy = new LockEngine(new LockBackends(List.of(this.backend), "fake"), EngineSettings.DEFAULTS,
				TransactionBoundary.NONE, this.fixture.record, this.time, steps::add, () -> {
				})) {
			CompletableFuture<LockHandle> waiting = busy.acquireAsync(request().waitTime(Duration.ofMillis(9)).build())
				.toCompletableFuture();
			this.time.pause(Duration.ofMillis(50));
			while (!steps.isEmpty()) {
				steps.remove().run();
			}
			assertThat(waiting).isCompleted();
			waiting.join().close();
		}
		this.fixture.assertNothingLeft();
	}

	@Test
	void lateGrantIsWithdrawn() {
		CompletableFuture<AcquireResult> answer = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> answer);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request().waitTime(Duration.ZERO));
		this.time.advance(Duration.ofSeconds(2));
		assertThat(waiting).isCompletedExceptionally();
		this.backend.calls.clear();
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		assertThat(this.backend.calls).containsExactly("abandon stock:42");
		this.fixture.assertNothingLeft();
	}

	@Test
	void grantReceivedAfterItsLeaseDoesNotCount() {
		CompletableFuture<AcquireResult> answer = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> answer);
		CompletableFuture<LockHandle> waiting = this.fixture
			.acquire(request().leaseTime(Duration.ofMillis(500)).waitTime(Duration.ofSeconds(5)));
		AcquireResult grant = this.backend.answer(this.backend.claims.get(0));
		this.time.pause(Duration.ofMillis(600));
		answer.complete(grant);
		assertThat(waiting).isNotDone();
		this.time.advance(Duration.ofMillis(100));
		assertThat(waiting).isCompleted();
		assertThat(waiting.join().remainingValidity()).isGreaterThan(Duration.ofMillis(300));
	}

	@Test
	void definiteFailureIsNotRetried() {
		this.backend.acquires
			.add((claim) -> CompletableFuture.failedFuture(new LockBackendException("the password was refused")));
		CompletableFuture<LockHandle> handle = this.fixture.acquire(request());
		assertThatExceptionOfType(CompletionException.class).isThrownBy(handle::join)
			.withCauseInstanceOf(LockBackendException.class)
			.withMessageContaining("the password was refused");
		assertThat(this.backend.calls).containsExactly("acquire stock:42");
		this.fixture.assertNothingLeft();
	}

	@Test
	void storeExceptionFailsTheCallAndLeavesTheQueue() {
		this.backend.acquires.add((claim) -> {
			throw new IllegalStateException("boom");
		});
		assertThat(this.fixture.acquire(request())).isCompletedExceptionally();
		this.fixture.assertNothingLeft();
		this.fixture.acquired(request()).close();
	}

	@Test
	void cancellingTheFutureWithdrawsTheClaim() {
		this.backend.heldByAnother(LOCK);
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request());
		waiting.cancel(false);
		assertThat(this.backend.calls).endsWith("abandon stock:42");
		assertThat(this.fixture.record.outcomes).containsExactly(AcquireOutcome.INTERRUPTED);
		assertThat(this.time.planned()).as("timers").isZero();
	}

	@Test
	void failedWithdrawalIsRetried() {
		this.backend.heldByAnother(LOCK);
		this.backend.withdrawals.add((claim) -> CompletableFuture.failedFuture(new TimeoutException("lost")));
		CompletableFuture<LockHandle> waiting = this.fixture.acquire(request());
		waiting.cancel(false);
		this.time.advance(Duration.ofSeconds(1));
		assertThat(this.backend.calls.stream().filter("abandon stock:42"::equals)).hasSize(2);
	}

	@Test
	void onlyOneOfManyLocalWaitersSendsRequests() {
		this.backend.heldByAnother(LOCK);
		for (int i = 0; i < 10; i++) {
			this.fixture.acquire(request().waitTime(Duration.ofMillis(900)));
		}
		assertThat(this.backend.calls).containsExactly("acquire stock:42");
	}

	@Test
	void localWaitersAcquireOneAfterAnother() {
		LockHandle first = this.fixture.acquired(request());
		CompletableFuture<LockHandle> second = this.fixture.acquire(request());
		CompletableFuture<LockHandle> third = this.fixture.acquire(request());
		this.time.advance(Duration.ofMillis(2));
		first.close();
		assertThat(second).isCompleted();
		assertThat(third).isNotDone();
		second.join().close();
		assertThat(third).isCompleted();
		assertThat(third.join().fencingToken()).isGreaterThan(second.join().fencingToken());
		third.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void nonWaitingCallerAwaitsAReleaseInProgress() {
		CompletableFuture<ReleaseResult> released = new CompletableFuture<>();
		this.backend.releases.add((grant) -> {
			this.backend.free(grant.claim());
			return released;
		});
		this.fixture.acquired(request()).close();
		CompletableFuture<LockHandle> next = this.fixture.acquire(request().waitTime(Duration.ZERO));
		assertThat(next).isNotDone();
		released.complete(new ReleaseResult.Released());
		assertThat(next).isCompleted();
	}

	@Test
	void nonWaitingCallerIsRejectedBehindALocalHolder() {
		this.fixture.acquired(request());
		this.backend.calls.clear();
		assertThat(this.fixture.acquire(request().waitTime(Duration.ZERO))).isCompletedExceptionally();
		assertThat(this.backend.calls).isEmpty();
	}

	@Test
	void nonWaitingReadersDoNotRejectEachOther() {
		CompletableFuture<AcquireResult> answer = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> answer);
		LockRequest.Builder reader = request().mode(LockMode.SHARED).waitTime(Duration.ZERO);
		CompletableFuture<LockHandle> first = this.fixture.acquire(reader);
		CompletableFuture<LockHandle> second = this.fixture.acquire(reader);
		assertThat(second).isCompleted();
		answer.complete(this.backend.answer(this.backend.claims.get(0)));
		assertThat(first).isCompleted();
	}

	@Test
	void queuedWaiterThatTimesOutAdmitsTheNext() {
		LockHandle first = this.fixture.acquired(request());
		CompletableFuture<LockHandle> second = this.fixture.acquire(request().waitTime(Duration.ofMillis(100)));
		CompletableFuture<LockHandle> third = this.fixture.acquire(request());
		this.time.advance(Duration.ofMillis(200));
		assertThat(second).isCompletedExceptionally();
		first.close();
		assertThat(third).isCompleted();
		third.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void leaseShorterThanTheStoreKeepsIsRefused() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.fixture.acquire(request().leaseTime(Duration.ofMillis(5))))
			.withMessageContaining("stock:42")
			.withMessageContaining("keeps none shorter than");
	}

	@Test
	void unknownStoreIsRejectedWithTheAvailableOnes() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> this.fixture.acquire(request().backend("etcd")))
			.withMessageContaining("'etcd'")
			.withMessageContaining("[fake]");
	}

}
