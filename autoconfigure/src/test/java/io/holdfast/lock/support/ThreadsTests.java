package io.holdfast.lock.support;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link Threads}.
 */
class ThreadsTests {

	private static final Duration LONG = Duration.ofSeconds(20);

	@Test
	void closeWaitsUntilItIsDone() {
		CompletableFuture<Boolean> daemon = new CompletableFuture<>();
		Threads.close("closes", LONG, () -> daemon.complete(Thread.currentThread().isDaemon()));
		assertThat(daemon).isCompletedWithValue(true);
	}

	/** For example, the client waits for the thread that closes it. */
	@Test
	void closeDoesNotWaitForever() throws InterruptedException {
		CountDownLatch returned = new CountDownLatch(1);
		CountDownLatch done = new CountDownLatch(1);
		Threads.close("closes", Duration.ofMillis(1), () -> {
			try {
				returned.await();
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
			done.countDown();
		});
		returned.countDown();
		done.await();
		assertThat(done.getCount()).isZero();
	}

}
