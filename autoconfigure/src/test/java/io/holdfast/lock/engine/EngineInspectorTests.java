package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.HeldLock;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.LockState;
import io.holdfast.lock.WaitingAcquisition;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.PoorLockBackend;

import static io.holdfast.lock.engine.EngineFixture.LOCK;
import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

/**
 * Tests for {@link EngineInspector}.
 */
class EngineInspectorTests {

	private final EngineFixture fixture = new EngineFixture(settings().responseTimeout(Duration.ofSeconds(10)).build(),
			TransactionBoundary.NONE);

	private final EngineInspector inspector = inspector(this.fixture);

	private EngineInspector inspector(EngineFixture of) {
		return new EngineInspector(of.engine, new LockBackends(List.of(of.backend), "fake"), (event) -> {
		});
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
	void failureOfALookupNamesItsLock() {
		LockBackendException unreachable = new LockBackendException("Redis could not be reached. Check it.");
		assertThat(failureOfLookup(unreachable)).isNotSameAs(unreachable)
			.hasMessage("Lock 'stock:42' (backend fake) could not be looked up. Redis could not be reached. Check it.")
			.hasCause(unreachable);
		LockBackendException unread = new LockBackendException("Lock 'stock:42' could not be read. Delete its key.");
		assertThat(failureOfLookup(unread)).hasMessage(unread.getMessage());
		LockBackendException named = new LockBackendException(LOCK, "fake", "It changes too fast. Repeat it.", null);
		assertThat(failureOfLookup(named)).isSameAs(named);
		assertThat(failureOfLookup(new IllegalStateException("broken"))).hasMessageStartingWith(
				"Lock 'stock:42' (backend fake) could not be looked up. The store of backend 'fake' cannot be queried");
	}

	private LockBackendException failureOfLookup(Throwable failure) {
		this.fixture.backend.lookups.add(CompletableFuture.failedFuture(failure));
		LockBackendException thrown = catchThrowableOfType(LockBackendException.class, () -> this.inspector.find(LOCK));
		assertThat(thrown.lock()).isEqualTo(LOCK);
		assertThat(thrown.backend()).isEqualTo("fake");
		return thrown;
	}

	@Test
	void backendWithoutLookupSaysSo() {
		EngineInspector poor = new EngineInspector(this.fixture.engine,
				new LockBackends(List.of(new PoorLockBackend()), "poor"), (event) -> {
				});
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> poor.find(LOCK))
			.withMessage("The backend 'poor' cannot look up locks. Implement LockBackend.find() in it.");
	}

}
