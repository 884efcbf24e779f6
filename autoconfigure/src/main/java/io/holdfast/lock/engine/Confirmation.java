package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.support.NonBlockingThreads;

/**
 * The store's confirmation of a valid lease. Most backends respond immediately. A backend
 * whose connection is interrupted may keep the holder waiting, at most for as long as the
 * lease is valid.
 */
final class Confirmation {

	private Confirmation() {
	}

	/**
	 * Waits for the confirmation. The lease may be lost meanwhile. A thread that must not
	 * block, such as an event loop, does not wait.
	 * @return why the holder must not continue although no loss is known, or {@code null}
	 */
	static @Nullable Throwable await(Lease lease) {
		try {
			CompletableFuture<Boolean> confirmed = lease.confirm();
			if (!confirmed.isDone()) {
				if (lease.request().backend().answersOn(Thread.currentThread())) {
					return new IllegalStateException("this thread delivers its responses and must not wait for one");
				}
				if (NonBlockingThreads.includeCurrent()) {
					return new IllegalStateException("thread '" + Thread.currentThread().getName()
							+ "' must not block; check the lock on Schedulers.boundedElastic() to wait for the store");
				}
			}
			if (!IdleWait.get(confirmed)) {
				lease.store.lose(LossCause.REFUSED);
			}
			return null;
		}
		catch (ExecutionException ex) {
			return ex.getCause();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return ex;
		}
	}

}
