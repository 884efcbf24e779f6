package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.HeldLock;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockForceReleasedEvent;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockState;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for forced releases.
 */
class ForcedReleasesTests {

	private final EngineFixture fixture = new EngineFixture(settings().responseTimeout(Duration.ofSeconds(10)).build(),
			TransactionBoundary.NONE);

	private final List<LockForceReleasedEvent> events = new ArrayList<>();

	private final EngineInspector inspector = inspector(this.fixture);

	private EngineInspector inspector(EngineFixture of) {
		return new EngineInspector(of.engine, new LockBackends(List.of(of.backend), "fake"), this.events::add);
	}

	@Test
	void forcedReleaseEvictsTheHolderOfThisInstance() {
		LockHandle evicted = this.fixture.acquired(request());
		List<LockState.Holder> holders = this.inspector.forceRelease(LOCK);
		assertThat(holders).extracting(LockState.Holder::ownerId).containsExactly(evicted.ownerId());
		assertThat(evicted.isHeld()).isFalse();
		assertThat(this.fixture.record.losses).extracting(LockLostEvent::cause).containsExactly(LossCause.FORCED);
		assertThat(this.events).containsExactly(new LockForceReleasedEvent(LOCK, "fake", holders, List.of()));
		LockHandle next = this.fixture.acquired(request());
		assertThat(next.fencingToken()).isGreaterThan(evicted.fencingToken());
		next.close();
		evicted.close();
		this.fixture.assertNothingLeft();
	}

	/** The store names a holder that does not know yet that it is one. */
	@Test
	void forcedReleaseEvictsTheCallerWhoseGrantIsUnderWay() {
		CompletableFuture<Void> response = nextGrantArrivesWith(this.fixture.backend);
		CompletableFuture<LockHandle> acquiring = this.fixture.acquire(request().waitTime(Duration.ofSeconds(60)));
		assertThat(this.inspector.forceRelease(LOCK)).hasSize(1);
		assertThat(this.events).hasSize(1);
		assertThat(acquiring).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingRootCause()
			.isInstanceOf(LockLostException.class)
			.withMessageContaining("was released by force when backend fake granted it");
		LockHandle next = this.fixture.acquired(request());
		response.complete(null);
		assertThat(next.isHeld()).isTrue();
		assertThat(this.fixture.backend.holds(LOCK)).isTrue();
		next.close();
		this.fixture.assertNothingLeft();
	}

	/** Returns what delivers the response to the next claim, which the store grants. */
	private static CompletableFuture<Void> nextGrantArrivesWith(FakeBackend backend) {
		CompletableFuture<Void> response = new CompletableFuture<>();
		backend.acquires.add((claim) -> {
			AcquireResult granted = backend.answer(claim);
			return response.thenApply((now) -> granted);
		});
		return response;
	}

	@Test
	void forcedReleaseEvictsTheCallerWhoseHoldIsAboutToStart() {
		Queue<Runnable> steps = new ArrayDeque<>();
		EngineFixture slow = new EngineFixture(settings().responseTimeout(Duration.ofSeconds(10)).build(),
				TransactionBoundary.NONE, steps::add);
		CompletableFuture<Void> response = nextGrantArrivesWith(slow.backend);
		CompletableFuture<LockHandle> acquiring = slow.acquire(request());
		steps.remove().run();
		response.complete(null);
		assertThat(inspector(slow).forceRelease(LOCK)).hasSize(1);
		while (!steps.isEmpty()) {
			steps.remove().run();
		}
		assertThat(acquiring).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.havingRootCause()
			.isInstanceOf(LockLostException.class)
			.withMessageContaining("was lost: it was released by force");
		slow.assertNothingLeft();
	}

	@Test
	void callerThatWaitsForTheHolderIsNotEvictedWithIt() {
		LockHandle evicted = this.fixture.acquired(request());
		CompletableFuture<LockHandle> waiter = this.fixture.acquire(request().waitTime(Duration.ofSeconds(60)));
		assertThat(this.inspector.forceRelease(LOCK)).hasSize(1);
		assertThat(evicted.isHeld()).isFalse();
		assertThat(waiter.join().isHeld()).isTrue();
	}

	@Test
	void evictedHolderKnowsOfItBeforeTheLockIsFree() {
		LockHandle evicted = this.fixture.acquired(request());
		List<Boolean> heldAtRevocation = new ArrayList<>();
		this.fixture.backend.withdrawals.add((claim) -> {
			heldAtRevocation.add(evicted.isHeld());
			this.fixture.backend.free(claim);
			return CompletableFuture.completedFuture(null);
		});
		this.inspector.forceRelease(LOCK);
		assertThat(heldAtRevocation).containsExactly(false);
	}

	/** The store knows only the token of the first of several holders of a lease. */
	@Test
	void forcedReleaseNamesTheTokenOfTheHolderThatTookTheLeaseOver() {
		LockHandle first = this.fixture.acquired(request());
		CompletableFuture<LockHandle> waiter = this.fixture.acquire(request());
		first.close();
		LockHandle second = waiter.join();
		assertThat(this.fixture.record.handoffs).isOne();
		assertThat(this.inspector.held()).extracting(HeldLock::token).containsExactly(second.fencingToken());
		assertThat(this.inspector.forceRelease(LOCK)).extracting(LockState.Holder::token)
			.containsExactly(second.fencingToken())
			.doesNotContain(first.fencingToken());
		assertThat(second.isHeld()).isFalse();
	}

	@Test
	void failingListenerDoesNotFailTheForcedRelease() {
		this.fixture.backend.heldByAnother(LOCK);
		EngineInspector audited = new EngineInspector(this.fixture.engine,
				new LockBackends(List.of(this.fixture.backend), "fake"), (event) -> {
					this.events.add(event);
					throw new NoClassDefFoundError("of the listener");
				});
		assertThat(audited.forceRelease(LOCK)).hasSize(1);
		assertThat(this.events).hasSize(1);
		assertThat(this.fixture.backend.holds(LOCK)).isFalse();
	}

	/** Kotlin throws checked exceptions undeclared. */
	@Test
	void interruptOfAListenerIsLeftToItsThread() {
		this.fixture.backend.heldByAnother(LOCK);
		EngineInspector interrupted = new EngineInspector(this.fixture.engine,
				new LockBackends(List.of(this.fixture.backend), "fake"),
				(event) -> ForcedReleasesTests.<RuntimeException>throwUndeclared(new InterruptedException()));
		assertThat(interrupted.forceRelease(LOCK)).hasSize(1);
		assertThat(Thread.interrupted()).isTrue();
	}

	@SuppressWarnings("unchecked")
	private static <E extends Throwable> void throwUndeclared(Throwable failure) throws E {
		throw (E) failure;
	}

	@Test
	void lossDuringMinHoldIsNoLossOfAHolder() {
		this.fixture.acquired(request().minHold(Duration.ofMinutes(5))).close();
		assertThat(this.inspector.forceRelease(LOCK)).hasSize(1);
		assertThat(this.fixture.backend.holds(LOCK)).isFalse();
		assertThat(this.fixture.record.losses).isEmpty();
		assertThat(this.fixture.record.followed).containsExactly("started", "granted", "released");
		this.fixture.assertNothingLeft();
	}

	@Test
	void forcedReleaseEvictsTheHolderOfAnotherInstance() {
		this.fixture.backend.heldByAnother(LOCK);
		assertThat(this.inspector.forceRelease(LOCK)).hasSize(1);
		assertThat(this.fixture.backend.holds(LOCK)).isFalse();
		assertThat(this.fixture.record.losses).isEmpty();
	}

	@Test
	void nothingHappensToALockThatIsFree() {
		assertThat(this.inspector.forceRelease(LOCK)).isEmpty();
		assertThat(this.events).isEmpty();
		assertThat(this.fixture.backend.calls).isEmpty();
	}

	@Test
	void failedLookupReleasesNothing() {
		this.fixture.backend.heldByAnother(LOCK);
		this.fixture.backend.lookups.add(CompletableFuture.failedFuture(new IllegalStateException("connection reset")));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.inspector.forceRelease(LOCK))
			.withMessageStartingWith("Lock 'stock:42' (backend fake) was not released by force")
			.withMessageContaining("connection reset");
		assertThat(this.events).isEmpty();
	}

	@Test
	void unknownRevocationIsReported() {
		this.fixture.backend.heldByAnother(LOCK);
		this.fixture.backend.withdrawals
			.add((claim) -> CompletableFuture.failedFuture(new IllegalStateException("connection reset")));
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.inspector.forceRelease(LOCK))
			.withMessageContaining("it is unknown whether owner ")
			.withMessageContaining("connection reset");
		assertUnknown(this.fixture.backend);
	}

	@Test
	void storeThatHangsAfterTheLookupLeavesAnUnknownOutcome() {
		EngineFixture silent = new EngineFixture(settings().responseTimeout(Duration.ofSeconds(1)).build(),
				TransactionBoundary.NONE);
		silent.backend.heldByAnother(LOCK);
		silent.backend.withdrawals.add((claim) -> new CompletableFuture<>());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> inspector(silent).forceRelease(LOCK))
			.withMessageContaining("it is unknown whether owner ")
			.withMessageContaining("no response within 1s");
		assertUnknown(silent.backend);
	}

	private void assertUnknown(FakeBackend backend) {
		assertThat(this.events).singleElement().satisfies((event) -> {
			assertThat(event.evicted()).isEmpty();
			assertThat(event.unknown()).extracting(LockState.Holder::ownerId)
				.containsExactly(backend.owners.get(LOCK).value());
		});
	}

	@Test
	void secondReleaseAtTheSameTimeIsRejected() {
		this.fixture.backend.heldByAnother(LOCK);
		this.fixture.backend.withdrawals.add((claim) -> {
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> this.inspector.forceRelease(LOCK))
				.withMessage(
						"Lock 'stock:42' (backend fake) is being released by force at this moment. Look at its present holder before you repeat the call.");
			this.fixture.backend.free(claim);
			return CompletableFuture.completedFuture(null);
		});
		assertThat(this.inspector.forceRelease(LOCK)).hasSize(1);
		assertThat(this.inspector.forceRelease(LOCK)).isEmpty();
		assertThat(this.events).hasSize(1);
	}

	@Test
	void holderThatTheStoreNoLongerHasIsNotReported() {
		this.fixture.backend.heldByAnother(LOCK);
		LockState stale = this.inspector.find(LOCK);
		this.fixture.backend.heldByAnother(LOCK);
		this.fixture.backend.lookups.add(CompletableFuture.completedFuture(stale));
		assertThat(this.inspector.forceRelease(LOCK)).isEmpty();
		assertThat(this.events).isEmpty();
		assertThat(this.fixture.backend.holds(LOCK)).isTrue();
	}

	@Test
	void holderThatTheConditionRejectsKeepsTheLock() {
		LockHandle held = this.fixture.acquired(request());
		assertThat(this.inspector.forceRelease(LOCK, null, (holder) -> holder.ownerId().equals("another"))).isEmpty();
		assertThat(held.isHeld()).isTrue();
		assertThat(this.inspector.forceRelease(LOCK, null, (holder) -> holder.token().equals(held.fencingToken())))
			.hasSize(1);
		assertThat(held.isHeld()).isFalse();
	}

	@Test
	void holderThatTakesTheLeaseOverMeanwhileKeepsTheLock() {
		LockHandle first = this.fixture.acquired(request());
		CompletableFuture<LockHandle> second = this.fixture.acquire(request());
		assertThat(this.inspector.forceRelease(LOCK, null, (holder) -> {
			boolean accepted = holder.token().equals(first.fencingToken());
			first.close();
			return accepted;
		})).isEmpty();
		assertThat(second.join().isHeld()).isTrue();
		assertThat(this.events).isEmpty();
	}

	/** It may also lose it before it starts, or acquire a lease of its own after that. */
	@RepeatedTest(5)
	void holderThatTakesTheLeaseOverDuringTheForcedReleaseLosesIt() {
		LockHandle first = this.fixture.acquired(request());
		CompletableFuture<LockHandle> second = this.fixture.acquire(request());
		List<CompletableFuture<?>> releases = new ArrayList<>();
		this.fixture.record.whenHoldHasEnded = () -> {
			this.fixture.record.whenHoldHasEnded = () -> {
			};
			releases.add(CompletableFuture.runAsync(() -> this.inspector.forceRelease(LOCK)));
			assertThatExceptionOfType(TimeoutException.class)
				.isThrownBy(() -> releases.get(0).get(100, TimeUnit.MILLISECONDS));
		};
		first.close();
		releases.forEach(CompletableFuture::join);
		OwnerId owner = this.fixture.backend.owners.get(LOCK);
		assertThat(second).satisfiesAnyOf(
				(lost) -> assertThat(lost).failsWithin(Duration.ZERO)
					.withThrowableThat()
					.havingRootCause()
					.isInstanceOf(LockLostException.class),
				(next) -> assertThat(next.join().isHeld())
					.isEqualTo(owner != null && owner.value().equals(next.join().ownerId())));
	}

}
