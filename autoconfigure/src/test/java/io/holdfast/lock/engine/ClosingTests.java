package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.observation.LockObserver;

import static io.holdfast.lock.engine.EngineFixture.request;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for closing an engine while another thread ends a hold.
 */
class ClosingTests {

	private final FakeBackend backend = new FakeBackend();

	private final CompletableFuture<Void> closed = new CompletableFuture<>();

	private final LockEngine engine = new LockEngine(new LockBackends(List.of(this.backend), "fake"),
			EngineSettings.DEFAULTS, TransactionBoundary.NONE, new ClosesMeanwhile(), new ManualTime(), Runnable::run,
			() -> this.backend.calls.add("threads and clients close"));

	/**
	 * Otherwise the client closes first, and the lock stays held until its lease ends.
	 */
	@Test
	void closeAwaitsAReleaseOfAnotherThread() {
		this.engine.acquire(request().build()).close();
		this.closed.join();
		assertThat(this.backend.calls).endsWith("release stock:42", "threads and clients close");
	}

	/** Closes the engine after the hold has ended and before its release is sent. */
	private final class ClosesMeanwhile implements LockObserver {

		@Override
		public void released(LockName lock, String backend, Duration held, Duration lease) {
			Thread closing = new Thread(() -> {
				ClosingTests.this.engine.close();
				ClosingTests.this.closed.complete(null);
			});
			closing.start();
			Awaitility.await()
				.until(() -> ClosingTests.this.closed.isDone() || closing.getState() == Thread.State.TIMED_WAITING);
		}

	}

}
