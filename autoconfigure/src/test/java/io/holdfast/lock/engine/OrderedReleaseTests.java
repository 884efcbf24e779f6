package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for the next caller after a release that the store receives before any later
 * request.
 */
class OrderedReleaseTests {

	private static final List<String> TWO_PAIRS = List.of("acquire " + LOCK, "release " + LOCK, "acquire " + LOCK,
			"release " + LOCK);

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	private final CompletableFuture<ReleaseResult> response = new CompletableFuture<>();

	@BeforeEach
	void storeResponsesLate() {
		this.backend.capabilities = FakeBackend.capableOf(Capability.ORDERED);
		this.backend.releases.add((grant) -> {
			this.backend.free(grant.claim());
			return this.response;
		});
	}

	@Test
	void nextCallerDoesNotAwaitTheResponse() {
		this.fixture.acquired(request()).close();
		this.fixture.acquired(request().waitTime(Duration.ZERO)).close();
		assertThat(this.backend.calls).isEqualTo(TWO_PAIRS);
		this.response.complete(new ReleaseResult.Released());
		this.fixture.assertNothingLeft();
	}

	@Test
	void waiterDoesNotAwaitTheResponse() {
		LockHandle first = this.fixture.acquired(request().renew(false));
		CompletableFuture<LockHandle> second = this.fixture.acquire(request().renew(false));
		assertThat(second).isNotDone();
		assertFollowsAtOnce(first, second);
	}

	private void assertFollowsAtOnce(LockHandle first, CompletableFuture<LockHandle> second) {
		first.close();
		assertThat(second).isCompleted();
		second.join().close();
		assertThat(this.backend.calls).isEqualTo(TWO_PAIRS);
		this.response.complete(new ReleaseResult.Released());
		this.fixture.assertNothingLeft();
	}

	/** The lease has served its time of handoffs. */
	@Test
	void waiterAfterTheLastHandoffDoesNotAwaitTheResponse() {
		LockHandle first = this.fixture.acquired(request());
		CompletableFuture<LockHandle> second = this.fixture.acquire(request());
		this.fixture.time.advance(EngineSettings.Handoff.DEFAULTS.maxTime());
		assertFollowsAtOnce(first, second);
	}

	@Test
	void nextCallerAwaitsTheResponseOfAStoreWithoutOrder() {
		this.backend.capabilities = FakeBackend.capableOf();
		this.fixture.acquired(request()).close();
		CompletableFuture<LockHandle> next = this.fixture.acquire(request().waitTime(Duration.ZERO));
		assertThat(next).isNotDone();
		this.response.complete(new ReleaseResult.Released());
		next.join().close();
		this.fixture.assertNothingLeft();
	}

	/** Each has a queue of its own: readers, writers and fair callers. */
	@ParameterizedTest
	@CsvSource({ "SHARED, false, EXCLUSIVE, false", "EXCLUSIVE, false, SHARED, false",
			"EXCLUSIVE, true, EXCLUSIVE, false", "EXCLUSIVE, false, EXCLUSIVE, true", "EXCLUSIVE, true, SHARED, true" })
	void callerThatDoesNotWaitAwaitsTheResponseToAnyRelease(LockMode before, boolean fairBefore, LockMode mode,
			boolean fair) {
		releaseWithItsResponse();
		this.fixture.acquired(request().mode(before).fair(fairBefore)).close();
		CompletableFuture<LockHandle> next = this.fixture
			.acquire(request().mode(mode).fair(fair).waitTime(Duration.ZERO));
		assertThat(next).isNotDone();
		this.response.complete(new ReleaseResult.Released());
		next.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void readerDoesNotAwaitTheReleaseOfAnother() {
		releaseWithItsResponse();
		this.fixture.acquired(request().mode(LockMode.SHARED)).close();
		assertThat(this.fixture.acquire(request().mode(LockMode.SHARED).waitTime(Duration.ZERO))).isDone();
	}

	/** Others that come and go could otherwise make it wait forever. */
	@Test
	void callerThatDoesNotWaitAwaitsOneReleaseOnly() {
		releaseWithItsResponse();
		this.fixture.acquired(request().mode(LockMode.SHARED)).close();
		CompletableFuture<LockHandle> next = this.fixture.acquire(request().waitTime(Duration.ZERO));
		this.fixture.time.advance(EngineSettings.DEFAULTS.responseTimeout());
		assertThat(next).isCompletedExceptionally();
	}

	/** It waits for the release only, not for a caller that was faster after it. */
	@Test
	void callerThatDoesNotWaitIsRefusedIfAnotherOvertakesIt() {
		Deque<Runnable> steps = new ArrayDeque<>();
		EngineFixture delayed = new EngineFixture(EngineSettings.DEFAULTS, TransactionBoundary.NONE, steps::add);
		delayed.backend.releases
			.add((grant) -> this.response.thenApply((answer) -> delayed.backend.free(grant.claim())));
		delayed.engine.acquire(request().build()).close();
		CompletableFuture<LockHandle> overtaken = delayed.acquire(request().waitTime(Duration.ZERO));
		runAll(steps);
		this.response.complete(new ReleaseResult.Released());
		LockHandle holder = delayed.engine.acquire(request().build());
		runAll(steps);
		assertThat(overtaken).isCompletedExceptionally();
		assertThat(holder.isHeld()).isTrue();
		holder.close();
		delayed.assertNothingLeft();
	}

	/**
	 * The store may have granted the claim. ZooKeeper reads the wait queue before it
	 * deletes the node, so its order does not help.
	 */
	@ParameterizedTest
	@CsvSource({ "EXCLUSIVE, true, EXCLUSIVE, false", "SHARED, false, EXCLUSIVE, false",
			"EXCLUSIVE, false, EXCLUSIVE, true" })
	void callerThatDoesNotWaitAwaitsTheWithdrawalOfAnyClaim(LockMode before, boolean fairBefore, LockMode mode,
			boolean fair) {
		CompletableFuture<Void> withdrawn = new CompletableFuture<>();
		this.backend.releases.clear();
		this.backend.acquires.add((claim) -> {
			this.backend.answer(claim);
			return new CompletableFuture<>();
		});
		this.backend.withdrawals.add((claim) -> withdrawn.thenAccept((answer) -> this.backend.free(claim)));
		this.fixture.acquire(request().mode(before).fair(fairBefore)).cancel(true);
		CompletableFuture<LockHandle> next = this.fixture
			.acquire(request().mode(mode).fair(fair).waitTime(Duration.ZERO));
		assertThat(next).isNotDone();
		withdrawn.complete(null);
		next.join().close();
		this.fixture.assertNothingLeft();
	}

	/** It waits in its queue for a withdrawal, and then for the release of a reader. */
	@Test
	void callerThatAwaitedAWithdrawalAwaitsAReleaseOfAnotherQueue() {
		releaseWithItsResponse();
		CompletableFuture<Void> withdrawn = new CompletableFuture<>();
		this.backend.withdrawals.add((claim) -> withdrawn);
		LockHandle reader = this.fixture.acquired(request().mode(LockMode.SHARED));
		this.fixture.acquire(request()).cancel(true);
		reader.close();
		CompletableFuture<LockHandle> next = this.fixture.acquire(request().waitTime(Duration.ZERO));
		withdrawn.complete(null);
		assertThat(next).isNotDone();
		this.response.complete(new ReleaseResult.Released());
		next.join().close();
		this.fixture.assertNothingLeft();
	}

	private static void runAll(Deque<Runnable> steps) {
		while (!steps.isEmpty()) {
			steps.poll().run();
		}
	}

	private void releaseWithItsResponse() {
		this.backend.capabilities = FakeBackend.capableOf();
		this.backend.releases.clear();
		this.backend.releases.add((grant) -> this.response.thenApply((answer) -> this.backend.free(grant.claim())));
	}

	/** The release is sent after the renewal, so a claim could overtake it. */
	@Test
	void nextCallerAwaitsTheResponseWhileARenewalIsInProgress() {
		CompletableFuture<List<RenewResult>> renewal = new CompletableFuture<>();
		this.backend.renewals.add((grant) -> renewal);
		LockHandle first = this.fixture.acquired(request());
		this.fixture.time.advance(EngineSettings.DEFAULTS.leaseTime().dividedBy(3));
		first.close();
		CompletableFuture<LockHandle> next = this.fixture.acquire(request());
		assertThat(next).isNotDone();
		renewal.complete(List.of(new RenewResult.Renewed(EngineSettings.DEFAULTS.leaseTime())));
		assertThat(next).isNotDone();
		this.response.complete(new ReleaseResult.Released());
		next.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void rejectedReleaseIsReportedBesideTheNextHold() {
		this.fixture.acquired(request()).close();
		LockHandle next = this.fixture.acquired(request());
		this.response.complete(new ReleaseResult.NotHeld());
		assertThat(this.fixture.record.losses).singleElement()
			.satisfies((loss) -> assertThat(loss.cause()).isEqualTo(LossCause.REFUSED));
		assertThat(next.isHeld()).isTrue();
		next.close();
		this.fixture.assertNothingLeft();
	}

}
