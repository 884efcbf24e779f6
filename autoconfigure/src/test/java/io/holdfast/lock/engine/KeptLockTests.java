package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.AcquireOutcome;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a waiter that holds a lock that the store keeps for it, without a further
 * attempt. The store received the rejected attempt at once, released the lock after
 * {@link #AFTER}, and keeps it for {@link #KEPT}.
 */
class KeptLockTests {

	private static final Duration AFTER = Duration.ofSeconds(2);

	private static final Duration KEPT = Duration.ofSeconds(3);

	private static final Duration LEASE = Duration.ofSeconds(30);

	private EngineFixture fixture = new EngineFixture();

	private FakeBackend backend = this.fixture.backend;

	private final CompletableFuture<KeptLock> news = new CompletableFuture<>();

	@BeforeEach
	void anotherInstanceHoldsTheLock() {
		rejectOnce();
	}

	private void rejectOnce() {
		this.backend.acquires.add((claim) -> CompletableFuture
			.completedFuture(new AcquireResult.Contended(this.news, Duration.ofMinutes(1))));
	}

	/** A released lock is kept for its waiter. */
	private void keep() {
		Claim claim = this.backend.claims.get(0);
		this.backend.owners.put(LOCK, claim.owner());
		this.news.complete(new KeptLock(new Grant(claim, 7, claim.leaseTime()), AFTER, KEPT));
	}

	private CompletableFuture<LockHandle> waiting(LockRequest.Builder request) {
		CompletableFuture<LockHandle> waiting = this.fixture
			.acquire(request.leaseTime(LEASE).waitTime(Duration.ofMinutes(1)));
		assertThat(waiting).isNotDone();
		return waiting;
	}

	private int attempts() {
		return this.backend.claims.size();
	}

	@Test
	void lateAnswerDuringTheReleaseOfAKeptLockIsNoLoss() {
		CompletableFuture<AcquireResult> late = new CompletableFuture<>();
		this.backend.acquires.addFirst((claim) -> late);
		CompletableFuture<LockHandle> waiting = waiting(request());
		while (attempts() < 2) {
			this.fixture.time.advance(Duration.ofMillis(10));
		}
		this.fixture.time.advance(AFTER);
		keep();
		assertThat(waiting).isCompleted();
		assertThat(attempts()).isEqualTo(2);
		CompletableFuture<ReleaseResult> released = new CompletableFuture<>();
		this.backend.releases.add((grant) -> released);
		waiting.join().close();
		late.complete(this.backend.answer(this.backend.claims.get(0)));
		released.complete(this.backend.free(this.backend.claims.get(0)));
		assertThat(this.fixture.record.losses).isEmpty();
		assertThat(this.backend.calls).endsWith("release stock:42", "abandon stock:42");
		this.fixture.assertNothingLeft();
	}

	@Test
	void waiterHoldsTheLockWithoutAnotherAttempt() {
		CompletableFuture<LockHandle> waiting = waiting(request());
		this.fixture.time.advance(AFTER.plusMillis(100));
		keep();
		LockHandle handle = waiting.join();
		assertThat(attempts()).isOne();
		assertThat(handle.fencingToken()).isEqualTo(Grant.fencingTokenOf(7));
		assertThat(this.fixture.record.outcomes).containsExactly(AcquireOutcome.CONTENDED);
		handle.close();
		assertThat(this.backend.batches).isEmpty();
		this.fixture.assertNothingLeft();
	}

	@Test
	void validityEndsBeforeTheStoreFreesTheLock() {
		CompletableFuture<LockHandle> waiting = waiting(request());
		this.fixture.time.advance(AFTER.plusMillis(90));
		keep();
		LockHandle handle = waiting.join();
		assertThat(handle.remainingValidity()).isBetween(Duration.ofMillis(2800), Duration.ofMillis(2910));
		handle.close();
	}

	@Test
	void renewalSoonStartsTheWholeLease() {
		CompletableFuture<LockHandle> waiting = waiting(request());
		this.fixture.time.advance(AFTER);
		keep();
		LockHandle handle = waiting.join();
		this.fixture.time.advance(Duration.ofMillis(19));
		assertThat(this.backend.batches).isEmpty();
		this.fixture.time.advance(Duration.ofMillis(1));
		assertThat(this.backend.batches).hasSize(1);
		assertThat(handle.remainingValidity()).isGreaterThan(LEASE.minusSeconds(1));
		this.fixture.time.advance(LEASE.dividedBy(4));
		assertThat(this.backend.batches).as("renewals within a third of the lease").hasSize(1);
		handle.close();
	}

	@Test
	void renewalWithoutAnswerIsRepeatedWhileTheLockIsKept() {
		this.backend.renewals.add((grant) -> CompletableFuture.failedFuture(new IllegalStateException("planned")));
		CompletableFuture<LockHandle> waiting = waiting(request());
		this.fixture.time.advance(AFTER);
		keep();
		LockHandle handle = waiting.join();
		this.fixture.time.advance(KEPT.dividedBy(2));
		assertThat(this.backend.batches).hasSize(2);
		assertThat(handle.remainingValidity()).isGreaterThan(LEASE.minusSeconds(2));
		handle.close();
	}

	@Test
	void holdIsReportedAsAShareOfTheRequestedLease() {
		CompletableFuture<LockHandle> waiting = waiting(request());
		this.fixture.time.advance(AFTER);
		keep();
		LockHandle handle = waiting.join();
		assertThat(this.fixture.engine.context().registry().held().iterator().next().store.validity().leaseTime())
			.isEqualTo(LEASE);
		handle.close();
	}

	@Test
	void waiterThatLearnsLateAsksAgain() {
		CompletableFuture<LockHandle> waiting = waiting(request());
		this.fixture.time.advance(AFTER.plusMillis(101));
		keep();
		assertThat(attempts()).isEqualTo(2);
		waiting.join().close();
		this.fixture.assertNothingLeft();
	}

	/**
	 * The clock of the store was advanced between the rejection and the release, or set
	 * back between an older release and the rejection.
	 */
	@Test
	void waiterThatLearnsTooEarlyAsksAgain() {
		CompletableFuture<LockHandle> waiting = waiting(request());
		this.fixture.time.advance(AFTER.minusNanos(1));
		keep();
		assertThat(attempts()).isEqualTo(2);
		waiting.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void waiterWithoutRenewalAsksAgain() {
		CompletableFuture<LockHandle> waiting = waiting(request().renew(false));
		this.fixture.time.advance(AFTER);
		keep();
		assertThat(attempts()).isEqualTo(2);
		waiting.join().close();
	}

	@Test
	void waiterAsksAgainIfTheLockDelayExceedsTheTime() {
		this.fixture = new EngineFixture(settings().leaseTime(LEASE).lockDelay(KEPT).build(), TransactionBoundary.NONE);
		this.backend = this.fixture.backend;
		rejectOnce();
		CompletableFuture<LockHandle> waiting = waiting(request());
		this.fixture.time.advance(AFTER);
		keep();
		assertThat(attempts()).isEqualTo(2);
		waiting.join().close();
	}

	@Test
	void claimThatHasGivenUpDoesNotHoldTheLock() {
		CompletableFuture<LockHandle> waiting = waiting(request());
		waiting.cancel(false);
		keep();
		assertThat(this.fixture.engine.context().registry().held()).isEmpty();
		assertThat(this.backend.calls).contains("abandon " + LOCK);
	}

}
