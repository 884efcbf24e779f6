package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockConfigurationException;
import io.holdfast.lock.HeldLock;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockHierarchy;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.backend.local.LocalLockBackend;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.AcquireOutcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * Tests for requests for several locks: all or none, in one order.
 */
class SeveralLocksTests {

	private static final LockName A = LockName.of("stock", "a");

	private static final LockName B = LockName.of("stock", "b");

	private static final LockName C = LockName.of("stock", "c");

	private final EngineFixture fixture = new EngineFixture();

	private final FakeBackend backend = this.fixture.backend;

	@Test
	@DisplayName("A transaction does not defer the release of a lock that the parallel attempt discards")
	void transactionDoesNotDeferTheReleaseOfADiscardedLock() throws Exception {
		EngineFixture bounded = new EngineFixture(EngineSettings.DEFAULTS, new TransactionBoundary() {
			@Override
			public boolean defersReleases() {
				return true;
			}

			@Override
			public void deferRelease(DeferrableHold hold) {
				hold.deferRelease();
			}
		});
		bounded.backend.heldByAnother(A);
		ExecutorService caller = Executors.newSingleThreadExecutor();
		try {
			Future<LockHandle> both = caller
				.submit(() -> bounded.engine.acquire(LockRequest.forLocks(List.of(A, B)).build()));
			Awaitility.await().until(() -> bounded.backend.called("release stock:b"));
			assertThat(bounded.backend.owners).doesNotContainKey(B);
			bounded.backend.freedByAnother(A);
			assertThat(both.get(10, TimeUnit.SECONDS).isHeld()).isTrue();
		}
		finally {
			caller.shutdownNow();
		}
	}

	@Test
	void locksAreAcquiredInOneOrderOnceEachAndReleasedInReverse() {
		LockHandle handle = this.fixture.engine.acquire(LockRequest.forLocks(List.of(C, A, B, A)).build());
		assertThat(handle.parts()).extracting(LockHandle::lock).containsExactly(A, B, C);
		assertThat(handle.isHeld()).isTrue();
		handle.close();
		assertThat(this.backend.calls).containsExactly("acquire stock:a", "acquire stock:b", "acquire stock:c",
				"release stock:c", "release stock:b", "release stock:a");
		this.fixture.assertNothingLeft();
		assertThat(LockContext.handles()).isEmpty();
	}

	@Test
	void unavailableLockLeavesNoneOfTheOthers() {
		this.backend.heldByAnother(B);
		LockRequest request = LockRequest.forLocks(List.of(A, B, C)).waitTime(Duration.ZERO).build();
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.fixture.engine.acquire(request))
			.withMessageContaining("'stock:b'");
		assertThat(this.fixture.engine.tryAcquire(request)).isEmpty();
		assertThat(this.backend.owners).containsOnlyKeys(B);
		assertThat(LockContext.handles()).isEmpty();
	}

	@Test
	void minHoldDoesNotKeepLocksOfAFailedRequest() {
		this.backend.heldByAnother(B);
		LockRequest.Builder request = LockRequest.forLocks(List.of(A, B))
			.minHold(Duration.ofSeconds(20))
			.waitTime(Duration.ZERO);
		assertThat(this.fixture.acquire(request)).isCompletedExceptionally();
		assertThat(this.backend.owners).containsOnlyKeys(B);
		assertThat(this.fixture.engine.tryAcquire(request.build())).isEmpty();
		assertThat(this.backend.owners).containsOnlyKeys(B);
	}

	/** A body must not start under a lock lost during the wait for the others. */
	@Test
	void locksAreNotDeliveredIfOneWasLostDuringTheWait() {
		this.backend.heldByAnother(B);
		LockRequest.Builder request = LockRequest.forLocks(List.of(A, B))
			.renew(false)
			.leaseTime(Duration.ofSeconds(2))
			.waitTime(Duration.ofSeconds(10));
		CompletableFuture<LockHandle> handle = this.fixture.acquire(request);
		this.fixture.time.advance(Duration.ofSeconds(3));
		this.backend.freedByAnother(B);
		assertThat(handle).isCompletedExceptionally();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(handle::join)
			.havingCause()
			.isInstanceOf(LockLostException.class)
			.withMessageContaining("'stock:a'")
			.withMessageContainingAll("before the call started", "waited for other locks");
		assertThat(this.backend.owners).doesNotContainKey(B);
	}

	@Test
	void asynchronousCallerGetsAllOrNone() {
		CompletableFuture<LockHandle> all = this.fixture.acquire(LockRequest.forLocks(List.of(B, A)));
		assertThat(all).isCompleted();
		this.backend.heldByAnother(C);
		CompletableFuture<LockHandle> none = this.fixture.acquire(LockRequest.forLocks(List.of(C, LockName.of("art"))));
		assertThat(this.backend.owners).containsKey(LockName.of("art"));
		none.cancel(false);
		assertThat(this.backend.owners).doesNotContainKey(LockName.of("art"));
		all.join().close();
		this.backend.owners.remove(C);
		this.fixture.assertNothingLeft();
	}

	@Test
	void waitTimeIsSharedByAllLocks() {
		this.backend.heldByAnother(A);
		this.backend.heldByAnother(B);
		CompletableFuture<LockHandle> waiting = this.fixture
			.acquire(LockRequest.forLocks(List.of(A, B)).waitTime(Duration.ofSeconds(4)));
		this.fixture.time.advance(Duration.ofSeconds(3));
		this.backend.freedByAnother(A);
		assertThat(waiting).isNotDone();
		this.fixture.time.advance(Duration.ofSeconds(1));
		assertThat(waiting).isCompletedExceptionally();
	}

	@Test
	void allLocksAreRequestedBeforeAnyAnswer() {
		List<CompletableFuture<Void>> answers = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			this.backend.acquires.add((claim) -> {
				assertThat(claim.remainingWait()).isZero();
				CompletableFuture<Void> asked = new CompletableFuture<>();
				answers.add(asked);
				return asked.thenApply((late) -> this.backend.answer(claim));
			});
		}
		CompletableFuture<LockHandle> all = this.fixture.acquire(LockRequest.forLocks(List.of(A, B, C)));
		assertThat(this.backend.calls).containsExactly("acquire stock:a", "acquire stock:b", "acquire stock:c");
		answers.forEach((answer) -> answer.complete(null));
		assertThat(all).isCompleted();
		all.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void waiterHoldsNoLockAfterTheOneItWaitsFor() {
		this.backend.heldByAnother(B);
		CompletableFuture<LockHandle> waiting = this.fixture
			.acquire(LockRequest.forLocks(List.of(A, B, C)).waitTime(Duration.ofSeconds(5)));
		assertThat(waiting).isNotDone();
		assertThat(this.backend.owners).containsOnlyKeys(A, B);
		this.backend.freedByAnother(B);
		assertThat(waiting).isCompleted();
		assertThat(this.backend.owners).containsOnlyKeys(A, B, C);
		waiting.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void failedFirstTryIsNotObserved() {
		this.backend.heldByAnother(A);
		CompletableFuture<LockHandle> waiting = this.fixture
			.acquire(LockRequest.forLocks(List.of(A, B)).waitTime(Duration.ofSeconds(5)));
		assertThat(this.backend.calls).contains("release stock:b");
		assertThat(this.fixture.record.waiting).isOne();
		assertThat(this.fixture.record.outcomes).isEmpty();
		assertThat(this.fixture.record.holds).isEmpty();
		assertThat(this.fixture.record.followed).containsExactly("started");
		this.backend.freedByAnother(A);
		waiting.join().close();
		assertThat(this.fixture.record.outcomes).containsExactly(AcquireOutcome.CONTENDED, AcquireOutcome.ACQUIRED);
		assertThat(this.fixture.record.waiting).isZero();
		assertThat(this.fixture.record.holds).hasSize(2);
		assertThat(this.fixture.record.followed).containsExactly("started", "granted", "started", "granted", "released",
				"released");
	}

	@Test
	void locksOfTheFirstTryAreObservedWhenTheCallerGetsThem() {
		CompletableFuture<Void> answer = answersLater();
		CompletableFuture<LockHandle> all = this.fixture.acquire(LockRequest.forLocks(List.of(A, B)));
		EngineInspector inspector = new EngineInspector(this.fixture.engine,
				new LockBackends(List.of(this.backend), "fake"), (event) -> {
				});
		assertThat(inspector.held()).as("of stock:b, for which the store names an owner of this instance")
			.extracting(HeldLock::inUse)
			.containsExactly(false);
		assertThat(this.fixture.record.outcomes).isEmpty();
		this.fixture.time.advance(Duration.ofMillis(100));
		answer.complete(null);
		assertThat(all).isCompleted();
		assertThat(inspector.held()).extracting(HeldLock::inUse).containsExactly(true, true);
		assertThat(this.fixture.record.outcomes).containsExactly(AcquireOutcome.ACQUIRED, AcquireOutcome.ACQUIRED);
		all.join().close();
		assertThat(this.fixture.record.holds).containsExactly(Duration.ofMillis(100), Duration.ZERO);
		assertThat(this.fixture.record.followed).containsExactly("started", "granted", "started", "granted", "released",
				"released");
	}

	@Test
	void lockLostDuringTheFirstTryIsRequestedAgain() {
		CompletableFuture<Void> answer = answersLater();
		CompletableFuture<LockHandle> all = this.fixture.acquire(LockRequest.forLocks(List.of(A, B)));
		CompletableFuture<Void> revoked = this.backend.revoked;
		this.backend.revoked = new CompletableFuture<>();
		this.backend.owners.remove(B);
		revoked.complete(null);
		answer.complete(null);
		assertThat(all).isCompleted();
		assertThat(all.join().isHeld()).isTrue();
		assertThat(this.fixture.record.losses).isEmpty();
		assertThat(this.fixture.record.outcomes).hasSize(2);
		all.join().close();
		this.fixture.assertNothingLeft();
	}

	/** Makes the store answer the next attempt when the result completes. */
	private CompletableFuture<Void> answersLater() {
		CompletableFuture<Void> answer = new CompletableFuture<>();
		this.backend.acquires.add((claim) -> answer.thenApply((now) -> this.backend.answer(claim)));
		return answer;
	}

	@Test
	void unansweredFirstTryIsWithdrawnAndRetried() {
		this.backend.acquires.add((claim) -> CompletableFuture.completedFuture(this.backend.answer(claim)));
		this.backend.acquires.add((claim) -> {
			this.backend.answer(claim);
			return new CompletableFuture<>();
		});
		CompletableFuture<LockHandle> all = this.fixture
			.acquire(LockRequest.forLocks(List.of(A, B)).waitTime(Duration.ofSeconds(20)));
		assertThat(all).isNotDone();
		this.fixture.time.advance(EngineSettings.DEFAULTS.responseTimeout());
		assertThat(all).isCompleted();
		assertThat(this.backend.calls).containsSubsequence("acquire stock:b", "abandon stock:b", "acquire stock:b");
		all.join().close();
		this.fixture.assertNothingLeft();
	}

	@Test
	void cancellingTheFirstTryLeavesNothing() {
		this.backend.acquires.add((claim) -> CompletableFuture.completedFuture(this.backend.answer(claim)));
		this.backend.acquires.add((claim) -> new CompletableFuture<>());
		CompletableFuture<LockHandle> all = this.fixture.acquire(LockRequest.forLocks(List.of(A, B)));
		all.cancel(false);
		this.fixture.assertNothingLeft();
	}

	@Test
	void locksWithMinHoldAreNotRequestedInParallel() {
		this.backend.heldByAnother(A);
		CompletableFuture<LockHandle> waiting = this.fixture
			.acquire(LockRequest.forLocks(List.of(A, B)).minHold(Duration.ofSeconds(1)));
		assertThat(this.backend.calls).containsExactly("acquire stock:a");
		waiting.cancel(false);
	}

	@Test
	void lockHeldByThisThreadIsReentered() {
		try (LockHandle outer = this.fixture.engine.acquire(LockRequest.forLock(B).build());
				LockHandle all = this.fixture.engine.acquire(LockRequest.forLocks(List.of(A, B, C)).build())) {
			assertThat(all.parts().get(1).fencingToken()).isEqualTo(outer.fencingToken());
			assertThat(this.backend.calls).containsExactly("acquire stock:b", "acquire stock:a", "acquire stock:c");
		}
		this.fixture.assertNothingLeft();
	}

	@Test
	void lossOfOneIsTheLossOfAll() {
		LockHandle handle = this.fixture.engine.acquire(LockRequest.forLocks(List.of(A, B)).build());
		List<LockLostEvent> notified = new ArrayList<>();
		handle.onLost(notified::add);
		this.backend.revoked.complete(null);
		assertThat(handle.isHeld()).isFalse();
		assertThat(notified).hasSize(1);
		handle.close();
	}

	@Test
	void tokenIsReadFromTheParts() {
		try (LockHandle handle = this.fixture.engine.acquire(LockRequest.forLocks(List.of(A, B)).build())) {
			assertThatIllegalStateException().isThrownBy(handle::fencingToken).withMessageContaining("parts()");
			assertThat(handle.parts()).extracting(LockHandle::fencingToken).doesNotHaveDuplicates();
		}
	}

	@Test
	void hierarchyIsSharedOnTheParentsAndExclusiveOnTheLeaf() {
		assertThat(LockHierarchy.request("orders/42/7").locks()).containsExactly(
				Map.entry(LockName.of("orders"), LockMode.SHARED),
				Map.entry(LockName.of("orders", "42"), LockMode.SHARED),
				Map.entry(LockName.of("orders", "42/7"), LockMode.EXCLUSIVE));
		assertThat(LockHierarchy.request("orders").locks())
			.containsExactly(Map.entry(LockName.of("orders"), LockMode.EXCLUSIVE));
	}

	@Test
	void requestWithoutALockIsRefused() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> LockRequest.forLocks(List.of()).build())
			.withMessageContaining("names 0 locks");
	}

	@Test
	void callersInOppositeOrderDoNotDeadlock() throws Exception {
		LocalLockBackend store = new LocalLockBackend();
		ExecutorService threads = Executors.newFixedThreadPool(8);
		long[] counters = new long[4];
		try (LockEngine one = engine(store); LockEngine other = engine(store)) {
			List<Future<?>> runs = IntStream.range(0, 8).<Future<?>>mapToObj((i) -> threads.submit(() -> {
				Random random = new Random(i);
				for (int n = 0; n < 500; n++) {
					List<Integer> keys = random.ints(3, 0, counters.length).boxed().toList();
					LockRequest request = LockRequest
						.forLocks(keys.stream().map((key) -> LockName.of("counter", "" + key)).toList())
						.waitTime(Duration.ofSeconds(30))
						.build();
					((i % 2 == 0) ? one : other).execute(request, (handle) -> {
						keys.stream().distinct().forEach((key) -> counters[key]++);
						return null;
					});
				}
			})).toList();
			for (Future<?> run : runs) {
				run.get(60, TimeUnit.SECONDS);
			}
		}
		finally {
			threads.shutdownNow();
		}
		long expected = IntStream.range(0, 8).mapToLong((i) -> {
			Random random = new Random(i);
			return IntStream.range(0, 500)
				.mapToLong((n) -> random.ints(3, 0, counters.length).distinct().count())
				.sum();
		}).sum();
		assertThat(Arrays.stream(counters).sum()).isEqualTo(expected);
		assertThat(store.inUse()).isEmpty();
	}

	private static LockEngine engine(LocalLockBackend store) {
		return new LockEngine(new LockBackends(List.of(store), "local"), EngineSettings.DEFAULTS,
				TransactionBoundary.NONE, List.of());
	}

}
