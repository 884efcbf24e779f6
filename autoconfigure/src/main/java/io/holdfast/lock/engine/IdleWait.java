package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;

/**
 * Waits for a future and does nothing else. On a thread of a {@code ForkJoinPool},
 * {@code join} and {@code get} of a future run other tasks while they wait. Another
 * caller's body would then run inside a release or a check.
 */
final class IdleWait {

	private IdleWait() {
	}

	/**
	 * Waits until a future is done.
	 * @throws InterruptedException if the thread is interrupted while it waits
	 */
	static void until(CompletableFuture<?> future) throws InterruptedException {
		if (!future.isDone()) {
			done(future).await();
		}
	}

	/** Waits until a future is done. Defers an interrupt until then. */
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
