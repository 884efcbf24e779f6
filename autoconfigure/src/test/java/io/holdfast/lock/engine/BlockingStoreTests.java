package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.test.ForwardingBackend;
import io.holdfast.lock.test.Slow;

import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for asynchronous callers of a store that blocks the engine's own threads.
 */
class BlockingStoreTests {

	private final FakeBackend backend = new FakeBackend();

	private final ManualTime time = new ManualTime();

	private final Workers workers = new Workers();

	/** Blocks attempts for locks named {@code other} until it completes. */
	private final CompletableFuture<Void> fast = new CompletableFuture<>();

	private final LockEngine engine;

	BlockingStoreTests() {
		this.backend.capabilities = FakeBackend.capableOf(Capability.BLOCKING);
		this.engine = engine(false);
	}

	private LockEngine engine(boolean awaitRelease) {
		EngineSettings settings = settings().waitTime(Duration.ofMinutes(5))
			.awaitRelease(awaitRelease)
			.shutdownTimeout(Duration.ZERO)
			.build();
		return new LockEngine(new LockBackends(List.of(new SlowStore(this.backend, this.fast)), "fake"), settings,
				TransactionBoundary.NONE, new EngineFixture.Record(), this.time, this.workers, () -> {
				});
	}

	@AfterEach
	void close() {
		this.fast.complete(null);
		this.engine.close();
		this.workers.close();
	}

	@Test
	void leasesAreRenewedAndReleasedBehindThousandsOfAcquisitions() {
		LockHandle held = this.engine.acquire(request().build());
		LockHandle closed = this.engine.acquire(LockRequest.forLock(LockName.of("stock", "closed")).build());
		List<CompletableFuture<LockHandle>> others = others(3_000);
		for (int renewals = 1; renewals <= 6; renewals++) {
			this.time.advance(Duration.ofSeconds(10));
			await(() -> isRenewed(held) && isRenewed(closed));
		}
		closed.close();
		await(() -> !this.backend.holds(LockName.of("stock", "closed")));
		assertThat(held.isHeld()).isTrue();
		assertThat(others).noneMatch(CompletableFuture::isDone);
		this.fast.complete(null);
		await(() -> {
			// the engine repeats an attempt that took longer than its lease
			this.time.advance(Duration.ofMillis(10));
			return others.stream().allMatch(CompletableFuture::isDone);
		});
		others.forEach((other) -> other.join().close());
		held.close();
		await(() -> !this.backend.holdsAny());
	}

	/** Most attempts wait for a thread, but the engine's steps do not. */
	@Slow
	@Test
	void callersTimeOutWhileEveryThreadIsBlocked() {
		List<CompletableFuture<LockHandle>> calls = IntStream.range(0, 50)
			.mapToObj((i) -> this.engine
				.acquireAsync(LockRequest.forLock(LockName.of("other", i)).waitTime(Duration.ofSeconds(4)).build())
				.toCompletableFuture())
			.toList();
		await(() -> {
			this.time.advance(Duration.ofMillis(100));
			return calls.stream().allMatch(CompletableFuture::isCompletedExceptionally);
		});
		assertThat(calls).anySatisfy((call) -> assertThat(call).failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withMessageContaining("too many requests were in progress to send this one in time"));
	}

	@Slow
	@Test
	void acquisitionsBeyondTheBoundAreRejectedByName() {
		List<CompletableFuture<LockHandle>> others = others(Workers.MOST_ACQUISITIONS);
		assertThat(this.engine.acquireAsync(request().build()).toCompletableFuture()).isCompletedExceptionally()
			.failsWithin(Duration.ZERO)
			.withThrowableThat()
			.withCauseInstanceOf(LockBackendException.class)
			.withMessageContainingAll("'stock:42'", "10000 asynchronous acquisitions", "backend fake");
		others.forEach((other) -> other.cancel(false));
		this.fast.complete(null);
		assertThat(this.engine.acquireAsync(request().build()).toCompletableFuture())
			.succeedsWithin(60, TimeUnit.SECONDS)
			.satisfies(LockHandle::close);
	}

	/** Runs more calls than the engine has threads. */
	@Test
	void awaitedReleasesOfAsynchronousCallersBlockNoThread() {
		this.fast.complete(null);
		try (LockEngine awaiting = engine(true)) {
			List<CompletableFuture<Integer>> calls = new ArrayList<>();
			for (int i = 0; i < 40; i++) {
				int number = i;
				calls.add(awaiting
					.executeAsync(LockRequest.of("stock", i), (handle) -> CompletableFuture.supplyAsync(() -> number))
					.toCompletableFuture());
			}
			for (CompletableFuture<Integer> call : calls) {
				assertThat(call).succeedsWithin(60, TimeUnit.SECONDS);
			}
		}
		assertThat(this.backend.holdsAny()).isFalse();
	}

	@Test
	void awaitedReleasesOnTheStoresOwnThreadsBlockNone() {
		this.fast.complete(null);
		try (LockEngine awaiting = engine(true)) {
			List<CompletableFuture<Void>> calls = IntStream.range(0, 40)
				.mapToObj((i) -> awaiting.acquireAsync(LockRequest.of("stock", i))
					.thenAccept(LockHandle::close)
					.toCompletableFuture())
				.toList();
			for (CompletableFuture<Void> call : calls) {
				assertThat(call).succeedsWithin(60, TimeUnit.SECONDS);
			}
			await(() -> !this.backend.holdsAny());
		}
	}

	private List<CompletableFuture<LockHandle>> others(int count) {
		return IntStream.range(0, count)
			.mapToObj((i) -> this.engine.acquireAsync(LockRequest.of("other", i)).toCompletableFuture())
			.toList();
	}

	/**
	 * Runs what is due, because a renewal may be due by the time it is planned. The next
	 * one is not sent before this one is over.
	 */
	private boolean isRenewed(LockHandle handle) {
		this.time.advance(Duration.ZERO);
		return handle.remainingValidity().compareTo(Duration.ofSeconds(20)) > 0
				&& ((Hold) handle).lease().store.schedule.renewal.isDone();
	}

	private static void await(Callable<Boolean> condition) {
		Awaitility.await().atMost(Duration.ofSeconds(60)).until(condition);
	}

	/**
	 * A store that blocks only attempts for locks named {@code other}, until {@code fast}
	 * completes.
	 */
	private static final class SlowStore extends ForwardingBackend {

		private final CompletableFuture<Void> fast;

		SlowStore(FakeBackend store, CompletableFuture<Void> fast) {
			super(store);
			this.fast = fast;
		}

		@Override
		public CompletionStage<AcquireResult> tryAcquire(Claim claim) {
			if (claim.lock().name().equals("other")) {
				this.fast.join();
			}
			return super.tryAcquire(claim);
		}

	}

}
