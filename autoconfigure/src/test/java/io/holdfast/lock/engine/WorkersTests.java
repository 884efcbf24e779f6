package io.holdfast.lock.engine;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;

import io.holdfast.lock.spi.TransactionBoundary;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Workers}.
 */
class WorkersTests {

	@Test
	void taskDoesNotRunOnItsCaller() {
		try (Workers workers = new Workers()) {
			assertThat(runOn(workers)).succeedsWithin(10, TimeUnit.SECONDS).isNotSameAs(Thread.currentThread());
		}
	}

	@Test
	void taskRunsOnItsCallerIfNoThreadCanBeCreated() {
		try (Workers workers = new Workers((kind) -> WorkersTests::noThread)) {
			assertThat(runOn(workers)).isCompletedWithValue(Thread.currentThread());
		}
	}

	@Test
	void taskSubmittedAfterCloseRunsOnItsCaller() {
		Workers workers = new Workers();
		workers.close();
		assertThat(runOn(workers)).isCompletedWithValue(Thread.currentThread());
	}

	@Test
	void asynchronousCallAfterCloseReportsTheShutdown() {
		LockEngine engine = new LockEngine(new LockBackends(List.of(new FakeBackend()), "fake"),
				EngineSettings.DEFAULTS, TransactionBoundary.NONE, List.of());
		engine.close();
		assertThat(engine.acquireAsync(EngineFixture.request().build()).toCompletableFuture())
			.failsWithin(10, TimeUnit.SECONDS)
			.withThrowableThat()
			.withMessageContainingAll("'stock:42'", "the application is stopping");
	}

	private static CompletableFuture<Thread> runOn(Workers workers) {
		CompletableFuture<Thread> thread = new CompletableFuture<>();
		workers.releases().execute(() -> thread.complete(Thread.currentThread()));
		return thread;
	}

	/** Fails like a system that has reached its limit of threads. */
	private static Thread noThread(Runnable task) {
		throw new OutOfMemoryError("unable to create native thread");
	}

}
