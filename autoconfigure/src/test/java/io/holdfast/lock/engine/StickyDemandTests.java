package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for a caller that does not wait and meets a sticky lease that it cannot take
 * over.
 */
class StickyDemandTests extends HandoffCallers {

	/** What a caller that does not wait may wait for a lease that it has demanded. */
	private static final Duration LONGEST = Duration.ofMillis(200);

	@BeforeEach
	void anotherInstanceHasTheLease() {
		this.fixture.backend.heldByAnother(LOCK);
		demanded();
		demanded();
	}

	private void demanded() {
		this.fixture.backend.acquires.add((claim) -> CompletableFuture
			.completedFuture(new AcquireResult.Contended(this.fixture.backend.signal, Duration.ofSeconds(1), true)));
	}

	private CompletableFuture<LockHandle> acquireWithoutWaiting() {
		return acquire(request().waitTime(Duration.ZERO));
	}

	@Test
	void callerAsksAgainAtOnceAndWhenItIsNotified() {
		CompletableFuture<LockHandle> handle = acquireWithoutWaiting();
		assertThat(this.fixture.backend.claims).extracting(Claim::remainingWait)
			.satisfiesExactly((first) -> assertThat(first).isZero(),
					(second) -> assertThat(second).isPositive().isLessThanOrEqualTo(LONGEST));
		assertThat(handle).isNotDone();
		this.fixture.backend.freedByAnother(LOCK);
		runSteps();
		assertThat(handle).isCompleted();
		assertThat(calls()).containsExactly("acquire stock:42", "acquire stock:42", "acquire stock:42");
		close(handle);
		assertNothingLeft();
	}

	@Test
	void callerIsRefusedIfTheLeaseIsNotReleasedSoon() {
		CompletableFuture<LockHandle> handle = acquireWithoutWaiting();
		this.fixture.time.advance(LONGEST);
		runSteps();
		assertThat(handle).isCompletedExceptionally();
		assertThat(calls()).containsExactly("acquire stock:42", "acquire stock:42", "abandon stock:42");
	}

	@Test
	void callerIsNotGrantedTheLockAfterAPauseBeyondTheShortWait() {
		CompletableFuture<LockHandle> handle = acquireWithoutWaiting();
		this.fixture.time.pause(LONGEST);
		this.fixture.backend.freedByAnother(LOCK);
		runSteps();
		assertThat(handle).isCompletedExceptionally();
		assertThat(calls()).containsExactly("acquire stock:42", "acquire stock:42", "abandon stock:42");
	}

	@Test
	void callerOfALeaseThatWasNotDemandedIsRefusedAtOnce() {
		this.fixture.backend.acquires.clear();
		assertThat(acquireWithoutWaiting()).isCompletedExceptionally();
		assertThat(calls()).containsExactly("acquire stock:42");
	}

	/** It has a queue of its own, so it does not find the lease there. */
	@ParameterizedTest
	@CsvSource({ "SHARED, false", "EXCLUSIVE, true" })
	void leaseOfTheOwnInstanceIsReleasedBeforeTheClaimOfAnotherKind(LockMode mode, boolean fair) {
		stickyFor(LONG);
		close(acquire());
		CompletableFuture<LockHandle> next = acquire(request().mode(mode).fair(fair).waitTime(Duration.ZERO));
		assertThat(next).isCompleted();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42", "acquire stock:42");
		close(next);
		assertNothingLeft();
	}

	@Test
	void leaseThatALocalCallerUsesIsLeftToIt() {
		stickyFor(LONG);
		close(acquire());
		CompletableFuture<LockHandle> using = acquire();
		CompletableFuture<LockHandle> fair = acquire(request().fair(true).waitTime(Duration.ZERO));
		assertThat(fair).isCompletedExceptionally();
		assertThat(using.join().isHeld()).isTrue();
		close(using);
		assertThat(calls()).containsExactly("acquire stock:42", "acquire stock:42");
	}

	@Test
	void parallelFirstAttemptDoesNotWait() {
		LockName other = LockName.of("stock", "43");
		CompletableFuture<LockHandle> both = acquire(
				LockRequest.forLocks(List.of(LOCK, other)).mode(LockMode.EXCLUSIVE).waitTime(LONG));
		assertThat(this.fixture.backend.claims).filteredOn((claim) -> claim.lock().equals(LOCK))
			.extracting(Claim::remainingWait)
			.satisfiesExactly((tentative) -> assertThat(tentative).isZero(),
					(waiting) -> assertThat(waiting).isGreaterThan(LONGEST));
		both.cancel(true);
		runSteps();
	}

}
