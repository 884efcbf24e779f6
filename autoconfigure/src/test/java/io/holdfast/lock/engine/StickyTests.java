package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.holdfast.lock.LockForceReleasedEvent;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.observation.AcquireOutcome;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for leases that stay in this JVM while no hold uses them.
 */
class StickyTests extends HandoffCallers {

	private static final Duration STICKY = Duration.ofMillis(500);

	StickyTests() {
		stickyFor(STICKY);
	}

	private void acquireAndClose() {
		close(acquire());
	}

	private void demand() {
		this.fixture.backend.wanted.complete(null);
		runSteps();
	}

	@Test
	void laterCallersTakeTheLeaseOverWithGreaterTokens() {
		List<CompletableFuture<LockHandle>> handles = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			handles.add(acquire());
			close(handles.get(i));
			this.fixture.time.advance(STICKY.dividedBy(2));
		}
		assertThat(calls()).containsExactly("acquire stock:42");
		assertThat(handles.stream().map((handle) -> handle.join().fencingToken())).isSorted().doesNotHaveDuplicates();
		assertThat(handles).noneMatch((handle) -> handle.join().isHeld());
		assertThat(this.fixture.record.outcomes).containsOnly(AcquireOutcome.ACQUIRED).hasSize(3);
		assertThat(this.fixture.record.holds).as("each release is reported once").hasSize(3);
		this.fixture.time.advance(STICKY);
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertThat(this.fixture.record.holds).hasSize(3);
		assertNothingLeft();
	}

	@Test
	void callerThatDoesNotWaitTakesTheLeaseOver() {
		acquireAndClose();
		CompletableFuture<LockHandle> next = acquire(request().waitTime(Duration.ZERO));
		assertThat(next).isCompleted();
		assertThat(calls()).containsExactly("acquire stock:42");
	}

	@Test
	void leaseStaysForTheStickyTimeAfterEachHold() {
		acquireAndClose();
		this.fixture.time.advance(STICKY.minusMillis(1));
		acquireAndClose();
		this.fixture.time.advance(STICKY.minusMillis(1));
		assertThat(calls()).containsExactly("acquire stock:42");
		this.fixture.time.advance(Duration.ofMillis(1));
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void onlyOneTimerServesManyHolds() {
		for (int i = 0; i < 100; i++) {
			acquireAndClose();
		}
		assertThat(this.fixture.time.planned()).as("with the timer of the watchdog").isEqualTo(2);
	}

	@Test
	void leaseIsNotStickyByDefault() {
		stickyFor(Duration.ZERO);
		acquireAndClose();
		assertThat(this.fixture.backend.claims).noneMatch((claim) -> claim.sticky());
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void leaseOfAStoreThatReportsNoDemandIsReleased() {
		this.fixture.backend.reportsDemand = false;
		acquireAndClose();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void demandEndsAnIdleLease() {
		acquireAndClose();
		demand();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void demandDuringAHoldEndsTheLeaseWithThatHold() {
		CompletableFuture<LockHandle> handle = acquire();
		demand();
		assertThat(handle.join().isHeld()).isTrue();
		assertThat(calls()).containsExactly("acquire stock:42");
		close(handle);
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void demandRenewsALeaseThatWasTakenOver() {
		acquireAndClose();
		CompletableFuture<LockHandle> handle = acquire();
		demand();
		this.fixture.time.advance(Duration.ZERO);
		assertThat(calls()).containsExactly("acquire stock:42", "renew");
		assertThat(handle.join().isHeld()).isTrue();
		close(handle);
		assertThat(calls()).containsExactly("acquire stock:42", "renew", "release stock:42");
		assertNothingLeft();
	}

	/** The store has renewed the lease before it was released by force. */
	@Test
	void demandDuringARenewalRenewsTheLeaseOnceMore() {
		acquireAndClose();
		CompletableFuture<LockHandle> handle = acquire();
		CompletableFuture<List<RenewResult>> regular = new CompletableFuture<>();
		this.fixture.backend.renewals.add((grant) -> regular);
		this.fixture.time.advance(Duration.ofSeconds(10));
		demand();
		this.fixture.time.advance(Duration.ZERO);
		assertThat(calls()).containsExactly("acquire stock:42", "renew");
		regular.complete(List.of(new RenewResult.Renewed(Duration.ofSeconds(30))));
		this.fixture.time.advance(Duration.ZERO);
		assertThat(calls()).containsExactly("acquire stock:42", "renew", "renew");
		close(handle);
		assertNothingLeft();
	}

	@Test
	void demandOfAForcedReleaseReachesAHoldThatHasTakenTheLeaseOver() {
		acquireAndClose();
		CompletableFuture<LockHandle> handle = acquire();
		this.fixture.backend.owners.clear();
		this.fixture.backend.renewals
			.add((grant) -> CompletableFuture.completedFuture(List.of(new RenewResult.Refused())));
		demand();
		this.fixture.time.advance(Duration.ZERO);
		assertThat(handle.join().isHeld()).isFalse();
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.REFUSED);
		this.fixture.assertNothingLeft();
	}

	@Test
	void demandedLeaseIsHandedOffWithinTheLimitsOfHandoffs() {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire();
		CompletableFuture<LockHandle> third = acquire();
		demand();
		close(first);
		assertThat(second).isCompleted();
		this.fixture.time.advance(Duration.ofMillis(5));
		close(second);
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42", "acquire stock:42");
		close(third);
	}

	@Test
	@DisplayName("A sticky lease passes to waiters beyond the limits of handoffs, until another instance demands it")
	void leasePassesBeyondTheLimitsOfHandoffsUntilItIsDemanded() {
		CompletableFuture<LockHandle> first = acquire();
		CompletableFuture<LockHandle> second = acquire();
		this.fixture.time.advance(Duration.ofSeconds(1));
		close(first);
		assertThat(second).isCompleted();
		assertThat(calls()).containsExactly("acquire stock:42");
	}

	@Test
	void leaseServesAsManyHoldsAsTokensCanTellApart() {
		List<Long> tokens = Stream.generate(this::acquire).limit(1025).map((handle) -> {
			close(handle);
			return handle.join().fencingToken().value();
		}).toList();
		assertThat(tokens).isSorted().doesNotHaveDuplicates();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42", "acquire stock:42");
	}

	@Test
	void leaseStaysNoLongerOneLeaseTimeAfterItsGrant() {
		for (Duration age = Duration.ZERO; age.compareTo(LEASE.minus(STICKY)) < 0; age = age
			.plus(STICKY.dividedBy(2))) {
			CompletableFuture<LockHandle> handle = acquire();
			this.fixture.time.advance(STICKY.dividedBy(2));
			close(handle);
		}
		assertThat(calls()).doesNotContain("release stock:42");
		CompletableFuture<LockHandle> last = acquire();
		this.fixture.time.advance(STICKY);
		close(last);
		assertThat(calls()).contains("release stock:42");
		assertNothingLeft();
	}

	@Test
	void idleLeaseIsNotRenewedAndEndsWhileHalfOfItIsLeft() {
		stickyFor(LONG);
		acquireAndClose();
		this.fixture.time.advance(LEASE.dividedBy(2));
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void overdueRenewalIsSentWhenAHoldTakesTheLeaseOver() {
		stickyFor(LONG);
		acquireAndClose();
		this.fixture.time.advance(LEASE.dividedBy(3).plusSeconds(1));
		assertThat(calls()).containsExactly("acquire stock:42");
		CompletableFuture<LockHandle> next = acquire();
		this.fixture.time.advance(Duration.ZERO);
		assertThat(calls()).containsExactly("acquire stock:42", "renew");
		close(next);
	}

	@Test
	void idleLeaseOfAPausedProcessIsNotTakenOver() {
		acquireAndClose();
		this.fixture.time.pause(LEASE);
		CompletableFuture<LockHandle> next = acquire();
		assertThat(next).isCompleted();
		assertThat(next.join().isHeld()).isTrue();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42", "acquire stock:42");
	}

	@Test
	void expiryOfAnIdleLeaseIsNoLoss() {
		acquireAndClose();
		this.fixture.backend.owners.clear();
		this.fixture.time.pause(LEASE);
		this.fixture.time.advance(Duration.ZERO);
		assertNothingLeft();
	}

	@Test
	void revocationOfAnIdleLeaseThatHasExpiredIsNoLoss() {
		acquireAndClose();
		this.fixture.backend.owners.clear();
		this.fixture.time.pause(LEASE);
		this.fixture.backend.revoked.complete(null);
		assertNothingLeft();
	}

	@Test
	void validLeaseThatTheStoreHasLostIsALossOfItsLastHolder() {
		acquireAndClose();
		this.fixture.backend.owners.clear();
		demand();
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.REFUSED);
		this.fixture.assertNothingLeft();
	}

	@Test
	void forcedReleaseOfALeaseIdleForAWhileIsNoLoss() {
		acquireAndClose();
		this.fixture.time.advance(Duration.ofMillis(100));
		this.fixture.backend.owners.clear();
		demand();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void revocationOfALeaseIdleForAWhileIsNoLoss() {
		acquireAndClose();
		this.fixture.time.advance(Duration.ofMillis(100));
		this.fixture.backend.owners.clear();
		this.fixture.backend.revoked.complete(null);
		runSteps();
		assertNothingLeft();
	}

	@Test
	void forcedReleaseRightAfterAHoldMayBeItsLoss() {
		acquireAndClose();
		this.fixture.time.advance(Duration.ofMillis(200));
		acquireAndClose();
		this.fixture.backend.owners.clear();
		demand();
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.REFUSED);
		this.fixture.assertNothingLeft();
	}

	@Test
	void revokedLeaseIsNotTakenOver() {
		acquireAndClose();
		this.fixture.backend.owners.clear();
		CompletableFuture<Void> revoked = this.fixture.backend.revoked;
		this.fixture.backend.revoked = new CompletableFuture<>();
		revoked.complete(null);
		CompletableFuture<LockHandle> next = acquire();
		assertThat(next.join().isHeld()).isTrue();
		assertThat(calls()).containsExactly("acquire stock:42", "acquire stock:42");
	}

	@Test
	@DisplayName("The next caller asks the store after it has responded to the release of the idle lease")
	void nextCallerAsksTheStoreAfterTheReleaseIsAnswered() {
		CompletableFuture<ReleaseResult> answer = new CompletableFuture<>();
		this.fixture.backend.releases.add((grant) -> answer);
		acquireAndClose();
		demand();
		CompletableFuture<LockHandle> next = acquire(request().waitTime(Duration.ZERO));
		assertThat(next).isNotDone();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		this.fixture.backend.owners.clear();
		answer.complete(new ReleaseResult.Released());
		runSteps();
		close(next);
		this.fixture.time.advance(STICKY);
		assertNothingLeft();
	}

	@ParameterizedTest
	@EnumSource
	void unsuitedCallerAsksTheStore(Unsuited unsuited) {
		acquireAndClose();
		CompletableFuture<LockHandle> next = acquire(unsuited.request());
		assertThat(next).isCompleted();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42", "acquire stock:42");
		close(next);
		this.fixture.time.advance(STICKY);
		assertNothingLeft();
	}

	@Test
	void minHoldEndsBeforeTheLeaseIsIdle() {
		close(acquire(request().minHold(Duration.ofSeconds(2))));
		demand();
		this.fixture.time.advance(Duration.ofSeconds(2).minusMillis(1));
		assertThat(calls()).containsExactly("acquire stock:42");
		this.fixture.time.advance(Duration.ofMillis(1));
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void closingEngineReleasesAnIdleLease() {
		acquireAndClose();
		this.fixture.engine.close();
		assertThat(calls()).containsExactly("acquire stock:42", "release stock:42");
		assertNothingLeft();
	}

	@Test
	void operatorsSeeAndReleaseAnIdleLease() {
		List<LockForceReleasedEvent> events = new ArrayList<>();
		EngineInspector inspector = new EngineInspector(this.fixture.engine,
				new LockBackends(List.of(this.fixture.backend), "fake"), events::add);
		acquireAndClose();
		assertThat(inspector.held()).singleElement().satisfies((held) -> assertThat(held.inUse()).isFalse());
		assertThat(inspector.forceRelease(LOCK, null, (holder) -> true)).hasSize(1);
		assertThat(events).hasSize(1);
		assertThat(inspector.held()).isEmpty();
		assertNothingLeft();
	}

}
