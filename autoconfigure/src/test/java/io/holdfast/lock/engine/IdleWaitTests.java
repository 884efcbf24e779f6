package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockRequest;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.TransactionBoundary;

import static io.holdfast.lock.engine.EngineFixture.request;
import static io.holdfast.lock.test.EngineSettingsBuilder.settings;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests that a thread of the common pool runs no other task while it waits for the store
 * in a release or a check. Before Java 25, futures do not use a common pool of one
 * thread, so there is no task that it could run.
 */
class IdleWaitTests {

	private final EngineFixture fixture = new EngineFixture(
			settings().awaitRelease(true).shutdownTimeout(Duration.ZERO).build(), TransactionBoundary.NONE);

	private final CompletableFuture<Thread> waits = new CompletableFuture<>();

	private final AtomicBoolean returned = new AtomicBoolean();

	private final CompletableFuture<ReleaseResult> released = new CompletableFuture<>();

	private final CompletableFuture<Boolean> confirmed = new CompletableFuture<>();

	private final CountDownLatch ends = new CountDownLatch(1);

	@AfterEach
	void answer() {
		this.ends.countDown();
		this.released.complete(new ReleaseResult.Released());
		this.confirmed.complete(true);
	}

	@Test
	void releaseRunsNoOtherTask() {
		planRelease();
		assertRunsNoOtherTask(request(), LockHandle::close);
	}

	@Test
	void releaseOfSeveralRunsNoOtherTask() {
		planRelease();
		planRelease();
		assertRunsNoOtherTask(LockRequest.forLocks(List.of(EngineFixture.LOCK, LockName.of("other"))),
				LockHandle::close);
	}

	@Test
	void checkRunsNoOtherTask() {
		this.fixture.backend.confirmation = this.confirmed;
		assertRunsNoOtherTask(request(), (handle) -> {
			handle.assertHeld();
			handle.close();
		});
	}

	private void planRelease() {
		this.fixture.backend.releases.add((grant) -> {
			this.fixture.backend.free(grant.claim());
			return this.released;
		});
	}

	/** Keeps the other threads busy, so that none of them runs the task instead. */
	private void occupyOtherThreads() {
		// a task of an earlier test would occupy the thread that is left
		assertThat(ForkJoinPool.commonPool().awaitQuiescence(60, TimeUnit.SECONDS)).isTrue();
		int others = ForkJoinPool.getCommonPoolParallelism() - 1;
		CountDownLatch occupied = new CountDownLatch(others);
		for (int i = 0; i < others; i++) {
			ForkJoinPool.commonPool().execute(() -> {
				occupied.countDown();
				await(this.ends);
			});
		}
		await(occupied);
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Queues a task from the waiting thread itself, which would run that task first. */
	private void assertRunsNoOtherTask(LockRequest.Builder request, Consumer<LockHandle> waiting) {
		occupyOtherThreads();
		CompletableFuture<Boolean> other = new CompletableFuture<>();
		ForkJoinTask<?> task = ForkJoinPool.commonPool().submit(() -> {
			LockHandle handle = this.fixture.engine.acquire(request.build());
			Thread thread = Thread.currentThread();
			CompletableFuture.runAsync(() -> other.complete(thread == Thread.currentThread() && !this.returned.get()));
			this.waits.complete(thread);
			waiting.accept(handle);
			this.returned.set(true);
		});
		Thread thread = this.waits.orTimeout(60, TimeUnit.SECONDS).join();
		Awaitility.await().until(() -> other.isDone() || thread.getState() == Thread.State.WAITING);
		answer();
		assertThat(task).satisfies((done) -> done.get(60, TimeUnit.SECONDS));
		assertThat(other.orTimeout(60, TimeUnit.SECONDS).join()).isFalse();
	}

}
