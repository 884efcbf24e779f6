package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * Waits for a future and does nothing else. {@code join} and {@code get} of a future run
 * other tasks meanwhile on a thread of a {@code ForkJoinPool}: another caller's body
 * would run inside of a release or a check.
 */
final class IdleWait {

	private IdleWait() {
	}

	/**
	 * Wait until a future is done.
	 * @throws InterruptedException if the thread is interrupted meanwhile
	 */
	static void until(CompletableFuture<?> future) throws InterruptedException {
		if (!future.isDone()) {
			done(future).await();
		}
	}

	/** Wait until a future is done. An interrupt is kept for later. */
	static void uninterruptibly(CompletableFuture<?> future) {
		boolean interrupted = false;
		while (!future.isDone()) {
			try {
				until(future);
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	private static CountDownLatch done(CompletableFuture<?> future) {
		CountDownLatch done = new CountDownLatch(1);
		future.whenComplete((value, failure) -> done.countDown());
		return done;
	}

}
