package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.RenewResult;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Tests for holds whose body, boundary, thread or store fails.
 */
class HoldFaultTests {

	private static final LockName A = LockName.of("stock", "a");

	private static final LockName B = LockName.of("stock", "b");

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	@Test
	void outerAndInnerHoldAreBothNotifiedOfTheLoss() {
		List<String> notified = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.fixture.engine.execute(request().build(), (outer) -> {
				outer.onLost((event) -> notified.add("outer"));
				assertThatExceptionOfType(LockLostException.class)
					.isThrownBy(() -> this.fixture.engine.execute(request().build(), (inner) -> {
						inner.onLost((event) -> notified.add("inner"));
						this.backend.revoked.complete(null);
						assertThat(inner.isHeld()).isFalse();
						assertThat(outer.isHeld()).isFalse();
						return null;
					}));
				return null;
			}));
		assertThat(notified).containsExactlyInAnyOrder("outer", "inner");
		assertThat(this.fixture.record.losses).hasSize(1);
	}

	@Test
	void innerHoldThatIsClosedIsNotNotifiedOfALaterLoss() {
		List<String> notified = new ArrayList<>();
		LockHandle outer = this.fixture.engine.acquire(request().build());
		outer.onLost((event) -> notified.add("outer"));
		LockHandle inner = this.fixture.engine.acquire(request().build());
		inner.onLost((event) -> notified.add("inner"));
		inner.close();
		this.backend.revoked.complete(null);
		outer.close();
		assertThat(notified).containsExactly("outer");
	}

	/** The cause of such a failure is the text of the store's client. */
	@Test
	void lossNamesTheRemedyForTheFailedRenewal() {
		LockHandle handle = this.fixture.acquired(request());
		for (int i = 0; i < 100; i++) {
			this.backend.renewals.add((grant) -> CompletableFuture.completedFuture(List
				.of(new RenewResult.Indeterminate(new LockBackendException("Redis rejects it. Grant the user +pexpire.",
						new IllegalStateException("NOPERM 0x1"))))));
		}
		this.fixture.time.advance(Duration.ofSeconds(31));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(handle::assertHeld)
			.withMessageContaining("the last one failed: Redis rejects it. Grant the user +pexpire (")
			.withMessageNotContaining("0x1");
	}

	/** The loss of one lease and the renewal of the other fall due together. */
	@Test
	void errorOfAListenerStopsNeitherListenersNorRenewals() {
		LockHandle lost = this.fixture.acquired(LockRequest.forLock(A).leaseTime(Duration.ofSeconds(10)).renew(false));
		LockHandle other = this.fixture.acquired(LockRequest.forLock(B).leaseTime(Duration.ofSeconds(30)));
		List<String> notified = new ArrayList<>();
		lost.onLost((event) -> {
			throw new AssertionError("boom");
		});
		lost.onLost((event) -> notified.add("next"));
		this.fixture.time.advance(Duration.ofSeconds(10));
		assertThat(notified).containsExactly("next");
		assertThat(this.fixture.record.losses).hasSize(1);
		assertThat(this.backend.batches).containsExactly(1);
		other.close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void exceptionOfTheBodyWinsOverThatOfTheRelease() {
		this.backend.releases.add((grant) -> {
			throw new IllegalStateException("boom");
		});
		assertThatThrownBy(() -> this.fixture.engine.execute(request().build(), (handle) -> {
			throw new IllegalArgumentException("sold out");
		})).isInstanceOf(IllegalArgumentException.class).hasNoSuppressedExceptions();
		this.fixture.time.advance(Duration.ofSeconds(1));
		this.fixture.assertNothingLeft();
	}

	@Test
	void exceptionOfTheBodyWinsOverThatOfTheBoundary() {
		EngineFixture bounded = new EngineFixture(EngineSettings.DEFAULTS, new FailingBoundary());
		assertThatThrownBy(() -> bounded.engine.execute(request().build(), (handle) -> {
			throw new IllegalArgumentException("sold out");
		})).isInstanceOf(IllegalArgumentException.class)
			.satisfies((failure) -> assertThat(failure.getSuppressed()).singleElement()
				.isInstanceOf(IllegalStateException.class));
		bounded.assertNothingLeft();
		assertThat(LockContext.handles()).isEmpty();
	}

	@Test
	void allLocksAreReleasedWhenTheBoundaryFails() {
		EngineFixture bounded = new EngineFixture(EngineSettings.DEFAULTS, new FailingBoundary());
		LockHandle both = bounded.engine.acquire(LockRequest.forLocks(List.of(A, B)).build());
		assertThatThrownBy(both::close).isInstanceOf(IllegalStateException.class)
			.satisfies((failure) -> assertThat(failure.getSuppressed()).hasSize(1));
		bounded.assertNothingLeft();
	}

	@Test
	void boundaryFailureAfterAParallelAcquisitionReleasesAllLocks() {
		EngineFixture bounded = new EngineFixture(EngineSettings.DEFAULTS, new FailingBoundary(2));
		LockRequest request = LockRequest.forLocks(List.of(A, B, LockName.of("stock", "c"))).build();
		assertThatThrownBy(() -> bounded.engine.acquire(request)).isInstanceOf(IllegalStateException.class);
		assertThat(bounded.backend.calls).filteredOn((call) -> call.startsWith("release")).hasSize(3);
		bounded.assertNothingLeft();
		assertThat(LockContext.handles()).isEmpty();
	}

	@Test
	void bodyDoesNotRunUnderALockThatIsAlreadyLost() {
		this.backend.revoked.complete(null);
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.fixture.engine.execute(request().build(), (handle) -> {
				throw new AssertionError("the body runs");
			}))
			.withMessageContaining("did not start");
		assertThat(this.fixture.engine.context().registry().held()).isEmpty();
		assertThat(this.fixture.engine.context().queues().size()).isZero();
	}

	@Test
	void errorOfTheBoundaryReleasesAllLocks() {
		EngineFixture bounded = new EngineFixture(EngineSettings.DEFAULTS, new TransactionBoundary() {

			private int calls;

			@Override
			public void deferRelease(DeferrableHold hold) {
				if (++this.calls > 2) {
					throw new NoClassDefFoundError("undeployed");
				}
			}

		});
		LockHandle both = bounded.engine.acquire(LockRequest.forLocks(List.of(A, B)).build());
		assertThatThrownBy(both::close).isInstanceOf(NoClassDefFoundError.class)
			.satisfies((failure) -> assertThat(failure.getSuppressed()).hasSize(1));
		bounded.assertNothingLeft();
		assertThat(LockContext.handles()).isEmpty();
	}

	@Test
	void boundaryFailureAfterTheAcquisitionReleasesTheLock() {
		EngineFixture bounded = new EngineFixture(EngineSettings.DEFAULTS, new TransactionBoundary() {
			@Override
			public void deferRelease(DeferrableHold hold) {
				throw new IllegalStateException("not at all");
			}
		});
		assertThatThrownBy(() -> bounded.engine.acquire(request().build())).hasMessage("not at all");
		bounded.assertNothingLeft();
		assertThat(LockContext.handles()).isEmpty();
	}

	@Test
	void errorOfTheBodyLeavesNothing() {
		assertThatExceptionOfType(OutOfMemoryError.class)
			.isThrownBy(() -> this.fixture.engine.execute(LockRequest.forLocks(List.of(A, B)).build(), (handle) -> {
				throw new OutOfMemoryError("made up");
			}));
		this.fixture.assertNothingLeft();
		assertThat(LockContext.handles()).isEmpty();
	}

	@Test
	void unboundedReentryIsRejectedAndLeavesNothing() {
		AtomicInteger depth = new AtomicInteger();
		assertThatExceptionOfType(LockConfigurationException.class).isThrownBy(() -> deeper(depth))
			.withMessageContainingAll("'stock:42'", "256 nested holds");
		assertThat(depth).hasValue(ThreadHolds.MAX_NESTED_HOLDS);
		assertThat(LockContext.handles()).isEmpty();
		this.fixture.assertNothingLeft();
	}

	private void deeper(AtomicInteger depth) {
		this.fixture.engine.execute(request().build(), (handle) -> {
			depth.incrementAndGet();
			deeper(depth);
			return null;
		});
	}

	@Test
	void manyLocksOfOneRequestAreNotNested() {
		List<LockName> locks = IntStream.range(0, 500).mapToObj((i) -> LockName.of("stock", "" + i)).toList();
		try (LockHandle all = this.fixture.engine.acquire(LockRequest.forLocks(locks).build());
				LockHandle inner = this.fixture.engine.acquire(request().build())) {
			assertThat(all.isHeld()).isTrue();
			assertThat(inner.isHeld()).isTrue();
		}
		this.fixture.assertNothingLeft();
	}

	@Test
	void interruptedThreadReleasesItsHoldAndKeepsItsFlag() {
		EngineFixture awaiting = new EngineFixture(settings().awaitRelease(true).shutdownTimeout(Duration.ZERO).build(),
				TransactionBoundary.NONE);
		LockHandle handle = awaiting.engine.acquire(request().build());
		Thread.currentThread().interrupt();
		handle.close();
		assertThat(Thread.interrupted()).isTrue();
		awaiting.assertNothingLeft();
	}

	@Test
	void nestingInOppositeOrderDoesNotBlockForever() throws InterruptedException {
		List<LockNotAcquiredException> ends = new ArrayList<>();
		AtomicInteger inside = new AtomicInteger();
		Thread one = nesting(A, B, inside, ends);
		Thread other = nesting(B, A, inside, ends);
		Awaitility.await()
			.until(() -> this.fixture.engine.context().registry().waiting().size() == 2
					&& one.getState() == Thread.State.WAITING && other.getState() == Thread.State.WAITING);
		this.fixture.time.advance(Duration.ofSeconds(5));
		one.join();
		other.join();
		assertThat(ends).as("the first to time out may let the other in")
			.isNotEmpty()
			.allSatisfy((end) -> assertThat(end).hasMessageContaining("5s"));
		this.fixture.assertNothingLeft();
	}

	private Thread nesting(LockName first, LockName second, AtomicInteger inside, List<LockNotAcquiredException> ends) {
		Thread thread = new Thread(() -> {
			try (LockHandle outer = this.fixture.engine.acquire(LockRequest.forLock(first).build())) {
				inside.incrementAndGet();
				while (inside.get() < 2) {
					Thread.onSpinWait();
				}
				this.fixture.engine.acquire(LockRequest.forLock(second).build()).close();
			}
			catch (LockNotAcquiredException ex) {
				synchronized (ends) {
					ends.add(ex);
				}
			}
		});
		thread.start();
		return thread;
	}

	@Test
	void heldLockSurvivesAHundredThousandOthers() {
		LockHandle held = this.fixture.engine.acquire(request().build());
		for (int i = 0; i < 100_001; i++) {
			this.fixture.engine.acquire(LockRequest.of("stock", i)).close();
			this.backend.calls.clear();
			this.backend.claims.clear();
		}
		assertThat(held.isHeld()).isTrue();
		this.fixture.engine.acquire(request().build()).close();
		assertThat(this.backend.calls).as("requests for a re-entry").isEmpty();
		held.close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void sameKeyUnderTwoNamesIsTwoLocks() {
		LockHandle stock = this.fixture.acquired(LockRequest.forLock(LockName.of("stock", "42")));
		LockHandle order = this.fixture.acquired(LockRequest.forLock(LockName.of("order", "42")));
		assertThat(stock.isHeld()).isTrue();
		assertThat(order.isHeld()).isTrue();
		stock.close();
		order.close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void releaseWaitsForARenewalInProgress() {
		CompletableFuture<List<RenewResult>> answer = new CompletableFuture<>();
		this.backend.renewals.add((grant) -> answer);
		LockHandle handle = this.fixture.acquired(request());
		this.fixture.time.advance(Duration.ofSeconds(10));
		handle.close();
		assertThat(this.backend.calls).endsWith("renew");
		answer.complete(List.of(new RenewResult.Renewed(Duration.ofSeconds(30))));
		assertThat(this.backend.calls).endsWith("renew", "release stock:42");
		this.fixture.assertNothingLeft();
	}

	@Test
	void releaseWaitsAtMostForTheResponseTimeout() {
		this.backend.renewals.add((grant) -> new CompletableFuture<>());
		LockHandle handle = this.fixture.acquired(request());
		this.fixture.time.advance(Duration.ofSeconds(10));
		handle.close();
		this.fixture.time.advance(EngineSettings.DEFAULTS.responseTimeout());
		assertThat(this.backend.calls).endsWith("renew", "release stock:42");
		this.fixture.assertNothingLeft();
	}

	@Test
	void renewalWithAShorterLeaseShortensTheValidity() {
		Duration shorter = Duration.ofSeconds(6);
		this.backend.renewals
			.add((grant) -> CompletableFuture.completedFuture(List.of(new RenewResult.Renewed(shorter))));
		LockHandle handle = this.fixture.acquired(request());
		this.fixture.time.advance(Duration.ofSeconds(10));
		assertThat(handle.remainingValidity()).isLessThan(shorter);
		this.fixture.time.advance(Duration.ofMinutes(1));
		assertThat(handle.isHeld()).as("it is renewed in time").isTrue();
		handle.close();
	}

	@Test
	void lateRenewalIsMeasured() {
		LockHandle handle = this.fixture.acquired(request());
		this.fixture.time.pause(Duration.ofSeconds(12));
		this.fixture.time.advance(Duration.ofSeconds(10));
		assertThat(this.fixture.record.delays).containsExactly(Duration.ofSeconds(2), Duration.ZERO);
		handle.close();
	}

	/** A boundary that fails when a lock is closed, or at its given call. */
	private static final class FailingBoundary implements TransactionBoundary {

		private final Set<LockHandle> acquired = new HashSet<>();

		private int callsToFailure;

		FailingBoundary() {
			this(Integer.MAX_VALUE);
		}

		FailingBoundary(int callsToFailure) {
			this.callsToFailure = callsToFailure;
		}

		@Override
		public void deferRelease(DeferrableHold hold) {
			this.callsToFailure--;
			if (this.callsToFailure == 0 || (this.callsToFailure > 0 && !this.acquired.add(hold))) {
				throw new IllegalStateException("no more");
			}
		}

	}

	/** The error may follow the grant, as one of too little memory. */
	@Test
	void claimIsWithdrawnAfterAnUnexpectedErrorOfItsAttempt() {
		this.backend.acquires.add((claim) -> {
			this.backend.answer(claim);
			throw new NoClassDefFoundError("undeployed");
		});
		assertThat(this.fixture.acquire(request())).isCompletedExceptionally();
		assertThat(this.backend.owners).isEmpty();
		this.fixture.assertNothingLeft();
	}

}
