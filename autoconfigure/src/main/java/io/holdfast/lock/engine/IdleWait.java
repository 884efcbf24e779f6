package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;

/**
 * Waits for a future and does nothing else. On a thread of a {@code ForkJoinPool},
 * {@code join} and {@code get} of a future run other tasks while they wait. Another
 * caller's body would then run inside a release or a check.
 */
final class IdleWait {

	private IdleWait() {
	}

	/**
	 * Waits for the result of a future, as {@link CompletableFuture#get()} does.
	 */
	static <T> T get(CompletableFuture<T> future) throws ExecutionException, InterruptedException {
		awaitDone(future);
		return future.get();
	}

	/**
	 * Waits for a future, as {@link CompletableFuture#join()} does. Defers an interrupt
	 * until then.
	 */
	static void join(CompletableFuture<?> future) {
		boolean interrupted = false;
		while (!future.isDone()) {
			try {
				awaitDone(future);
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
		future.join();
	}

	private static void awaitDone(CompletableFuture<?> future) throws InterruptedException {
		if (!future.isDone()) {
			CountDownLatch done = new CountDownLatch(1);
			future.whenComplete((value, failure) -> done.countDown());
			done.await();
		}
	}

}
