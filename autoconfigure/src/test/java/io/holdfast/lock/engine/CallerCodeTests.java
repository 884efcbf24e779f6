package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockNotAcquiredException;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.support.Threads;

import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that blocking code of asynchronous callers does not block the engine's own
 * threads.
 */
class CallerCodeTests {

	/** More calls than the engine has threads for its steps. */
	private static final int MANY = 50;

	private final FakeBackend backend = new FakeBackend();

	private final ManualTime time = new ManualTime();

	private final Workers workers = new Workers();

	private final LockEngine engine = engine(false);

	private final CountDownLatch ends = new CountDownLatch(1);

	private LockEngine engine(boolean awaitRelease) {
		EngineSettings settings = settings().awaitRelease(awaitRelease).shutdownTimeout(Duration.ZERO).build();
		return new LockEngine(new LockBackends(List.of(this.backend), "fake"), settings, TransactionBoundary.NONE,
				new EngineFixture.Record(), this.time, this.workers, () -> {
				});
	}

	@AfterEach
	void close() {
		this.ends.countDown();
		this.engine.close();
		this.workers.close();
	}

	@Test
	void blockingBodiesDoNotBlockAcquisitions() {
		List<CompletableFuture<Integer>> bodies = blockingBodies();
		assertThat(acquire("free")).succeedsWithin(60, TimeUnit.SECONDS).satisfies(LockHandle::close);
		this.ends.countDown();
		assertThat(bodies).allSatisfy((body) -> assertThat(body).succeedsWithin(60, TimeUnit.SECONDS));
		Awaitility.await().until(() -> !this.backend.holdsAny());
	}

	@Test
	void blockingBodiesDoNotBlockTimeouts() {
		blockingBodies();
		this.backend.heldByAnother(LockName.of("taken"));
		CompletableFuture<LockHandle> waiting = acquire("taken");
		Awaitility.await().until(() -> {
			this.time.advance(Duration.ofSeconds(1));
			return waiting.isDone();
		});
		assertThat(waiting).failsWithin(60, TimeUnit.SECONDS)
			.withThrowableThat()
			.withCauseInstanceOf(LockNotAcquiredException.class);
	}

	/** One thread detects the losses of all leases, and renews them. */
	@Test
	void blockingListenerOfALossDelaysNoOtherLease() {
		LockHandle renewed = this.engine
			.acquire(LockRequest.forLock(LockName.of("renewed")).leaseTime(Duration.ofSeconds(30)).build());
		CountDownLatch blocked = new CountDownLatch(1);
		CountDownLatch second = new CountDownLatch(1);
		LockHandle lost = losing("lost", Duration.ofSeconds(5), () -> {
			blocked.countDown();
			await(this.ends);
		});
		advance(Duration.ofSeconds(5));
		await(blocked);
		LockHandle next = losing("next", Duration.ofSeconds(45), second::countDown);
		for (int i = 0; i < 9; i++) {
			advance(Duration.ofSeconds(5));
		}
		await(second);
		assertThat(renewed.isHeld()).isTrue();
		this.ends.countDown();
		List.of(next, lost, renewed).forEach(LockHandle::close);
	}

	/** Advances the time on a thread like that of the clock, and waits for it. */
	private void advance(Duration duration) {
		assertThat(CompletableFuture.runAsync(() -> this.time.advance(duration),
				(task) -> Threads.daemon("timer", task).start()))
			.succeedsWithin(30, TimeUnit.SECONDS);
	}

	private LockHandle losing(String name, Duration lease, Runnable onLost) {
		LockHandle handle = this.engine
			.acquire(LockRequest.forLock(LockName.of(name)).leaseTime(lease).renew(false).build());
		handle.onLost((lost) -> onLost.run());
		return handle;
	}

	private List<CompletableFuture<Integer>> blockingBodies() {
		CountDownLatch running = new CountDownLatch(MANY);
		List<CompletableFuture<Integer>> bodies = IntStream.range(0, MANY)
			.mapToObj((i) -> this.engine.executeAsync(LockRequest.of("body", i), (handle) -> {
				running.countDown();
				await(this.ends);
				return CompletableFuture.completedFuture(i);
			}).toCompletableFuture())
			.toList();
		await(running);
		return bodies;
	}

	@Test
	void functionsThatAcquireFurtherLocksDoNotStarve() {
		CountDownLatch running = new CountDownLatch(MANY);
		List<CompletableFuture<Void>> calls = IntStream.range(0, MANY)
			.mapToObj((i) -> onOwnThread(
					() -> this.engine.acquireAsync(LockRequest.of("outer", i)).thenAccept((outer) -> {
						running.countDown();
						await(running);
						this.engine.acquireAsync(LockRequest.of("inner", i)).toCompletableFuture().join().close();
						outer.close();
					})))
			.toList();
		assertThat(calls).allSatisfy((call) -> assertThat(call).succeedsWithin(60, TimeUnit.SECONDS));
		Awaitility.await().until(() -> !this.backend.holdsAny());
	}

	/**
	 * Starts the work on a thread of its own. The stage may be complete when a function
	 * is attached, and then runs this function on the attaching thread.
	 */
	private static <T> CompletableFuture<T> onOwnThread(Supplier<CompletionStage<T>> work) {
		return CompletableFuture.supplyAsync(work, (task) -> new Thread(task).start()).thenCompose(Function.identity());
	}

	/** That thread may be the only one of the store's client. */
	@Test
	void resultDoesNotCompleteOnTheReleaseResponseThread() {
		CompletableFuture<ReleaseResult> released = new CompletableFuture<>();
		this.backend.releases.add((grant) -> {
			this.backend.free(grant.claim());
			return released;
		});
		try (LockEngine awaiting = engine(true)) {
			ConcurrentLinkedQueue<Thread> threads = new ConcurrentLinkedQueue<>();
			CompletableFuture<Boolean> result = awaiting
				.executeAsync(LockRequest.of("stock"), (handle) -> CompletableFuture.completedFuture("done"))
				.thenApply((value) -> threads.add(Thread.currentThread()))
				.toCompletableFuture();
			Awaitility.await().until(() -> this.backend.called("release stock"));
			released.complete(new ReleaseResult.Released());
			assertThat(result).succeedsWithin(60, TimeUnit.SECONDS);
			assertThat(threads).doesNotContain(Thread.currentThread());
		}
	}

	/** The threads are reused, and one may have been started for a caller of any kind. */
	@Test
	void actionSeesNothingOfTheCallerThatHasStartedItsThread() throws InterruptedException {
		InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
		List<Object> seen = new ArrayList<>();
		Thread caller = new Thread(() -> {
			user.set("alice");
			this.engine.executeAsync(LockRequest.of("stock"), (handle) -> {
				seen.add(Optional.ofNullable(user.get()));
				seen.add(Thread.currentThread().getContextClassLoader());
				return CompletableFuture.completedFuture("done");
			}).toCompletableFuture().join();
		});
		caller.setContextClassLoader(ClassLoader.getPlatformClassLoader());
		caller.start();
		caller.join();
		assertThat(seen).containsExactly(Optional.empty(), Thread.currentThread().getContextClassLoader());
	}

	private CompletableFuture<LockHandle> acquire(String name) {
		return this.engine.acquireAsync(LockRequest.of(name)).toCompletableFuture();
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
