package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.HeldLock;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockForceReleasedEvent;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LockState;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.WaitingAcquisition;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.PoorLockBackend;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link EngineInspector}.
 */
class EngineInspectorTests {

	private final EngineFixture fixture = new EngineFixture(settings().responseTimeout(Duration.ofSeconds(10)).build(),
			TransactionBoundary.NONE);

	private final List<LockForceReleasedEvent> events = new ArrayList<>();

	private final EngineInspector inspector = inspector(this.fixture);

	private EngineInspector inspector(EngineFixture of) {
		return new EngineInspector(of.engine, new LockBackends(List.of(of.backend), "fake"), this.events::add);
	}

	@Test
	void nothingIsHeldAtFirst() {
		assertThat(this.inspector.held()).isEmpty();
		assertThat(this.inspector.waiting()).isEmpty();
	}

	@Test
	void holdOfAThreadIsShownWithItsThread() {
		try (LockHandle handle = this.fixture.engine.acquire(request().leaseTime(Duration.ofSeconds(30)).build())) {
			this.fixture.time.advance(Duration.ofSeconds(3));
			assertThat(this.inspector.held()).singleElement().satisfies((held) -> {
				assertThat(held.lock()).isEqualTo(LOCK);
				assertThat(held.backend()).isEqualTo("fake");
				assertThat(held.mode()).isEqualTo(LockMode.EXCLUSIVE);
				assertThat(held.fair()).isFalse();
				assertThat(held.token()).isEqualTo(handle.fencingToken());
				assertThat(held.ownerId()).isEqualTo(handle.ownerId());
				assertThat(held.thread()).isEqualTo(Thread.currentThread().getName());
				assertThat(held.heldFor()).isEqualTo(Duration.ofSeconds(3));
				assertThat(held.remainingValidity()).isEqualTo(handle.remainingValidity());
				assertThat(held.inUse()).isTrue();
				assertThat(held.waiters()).isZero();
			});
		}
		assertThat(this.inspector.held()).isEmpty();
	}

	@Test
	void reentrantHoldIsPartOfItsOuterHold() {
		try (LockHandle outer = this.fixture.engine.acquire(request().build())) {
			this.fixture.engine.acquire(request().build()).close();
			assertThat(this.inspector.held()).singleElement()
				.satisfies((held) -> assertThat(held.thread()).as("thread of %s", outer)
					.isEqualTo(Thread.currentThread().getName()));
		}
	}

	@Test
	void asynchronousHoldHasNoThread() {
		try (LockHandle handle = this.fixture.acquired(request())) {
			assertThat(this.inspector.held()).extracting(HeldLock::token, HeldLock::thread)
				.containsExactly(tuple(handle.fencingToken(), null));
		}
	}

	@Test
	void lockThatStaysClosedAfterItsHoldIsNotInUse() {
		this.fixture.acquired(request().minHold(Duration.ofSeconds(5))).close();
		assertThat(this.inspector.held()).extracting(HeldLock::inUse).containsExactly(false);
	}

	@Test
	void waitersAreCountedByTheirLock() {
		LockHandle first = this.fixture.acquired(request());
		LockHandle other = this.fixture.acquired(LockRequest.forLock(LockName.of("invoice")).fair(true));
		CompletableFuture<LockHandle> waiter = this.fixture.acquire(request().waitTime(Duration.ofSeconds(60)));
		this.fixture.time.advance(Duration.ofSeconds(2));
		assertThat(this.inspector.held())
			.extracting((held) -> held.lock().toString(), HeldLock::fair, HeldLock::waiters)
			.containsExactly(tuple("invoice", true, 0), tuple("stock:42", false, 1));
		assertThat(this.inspector.waiting()).containsExactly(new WaitingAcquisition(LOCK, "fake", LockMode.EXCLUSIVE,
				false, null, Duration.ofSeconds(2), Duration.ofSeconds(58)));
		first.close();
		waiter.join().close();
		other.close();
		assertThat(this.inspector.waiting()).isEmpty();
	}

	@Test
	void waitingThreadIsShown() throws Exception {
		LockHandle first = this.fixture.acquired(request());
		Thread thread = new Thread(() -> this.fixture.engine.acquire(request().build()).close(), "waiting-thread");
		thread.start();
		await().untilAsserted(() -> assertThat(this.inspector.waiting()).extracting(WaitingAcquisition::thread)
			.containsExactly("waiting-thread"));
		first.close();
		thread.join();
	}

	@Test
	void storeIsAskedForHoldersInOtherInstances() {
		this.fixture.backend.heldByAnother(LOCK);
		LockState state = this.inspector.find(LOCK);
		assertThat(state.isHeld()).isTrue();
		assertThat(state.holders()).extracting(LockState.Holder::ownerId)
			.containsExactly(this.fixture.backend.owners.get(LOCK).value());
		assertThat(this.inspector.held()).isEmpty();
	}

	@Test
	void silentStoreIsNotAwaitedForLong() {
		EngineFixture silent = new EngineFixture(settings().responseTimeout(Duration.ofMillis(20)).build(),
				TransactionBoundary.NONE);
		silent.backend.lookups.add(new CompletableFuture<>());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> inspector(silent).find(LOCK))
			.withMessageEndingWith("no response within 20ms. Check that it is reachable.");
		silent.backend.capabilities = FakeBackend.capableOf(Capability.BLOCKING);
		silent.backend.lookups.add(new CompletableFuture<>());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> inspector(silent).find(LOCK))
			.withMessageEndingWith("Check that it is reachable and that its connection pool is not exhausted.");
	}

	@Test
	void backendWithoutLookupSaysSo() {
		EngineInspector poor = new EngineInspector(this.fixture.engine,
				new LockBackends(List.of(new PoorLockBackend()), "poor"), this.events::add);
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> poor.find(LOCK))
			.withMessage("The backend 'poor' cannot look up locks. Implement LockBackend.find() in it.");
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
					throw new IllegalStateException("the audit log is full");
				});
		assertThat(audited.forceRelease(LOCK)).hasSize(1);
		assertThat(this.events).hasSize(1);
		assertThat(this.fixture.backend.holds(LOCK)).isFalse();
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

}
