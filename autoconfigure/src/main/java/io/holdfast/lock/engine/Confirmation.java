package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;

/**
 * The store's confirmation of a valid lease. Most backends respond immediately. A backend
 * whose connection is interrupted may keep the holder waiting, at most for as long as the
 * lease is valid.
 */
final class Confirmation {

	private Confirmation() {
	}

	/**
	 * Waits for the confirmation. The lease may be lost meanwhile.
	 * @return why the holder must not continue although no loss is known, or {@code null}
	 */
	static @Nullable Throwable await(Lease lease) {
		try {
			CompletableFuture<Boolean> confirmed = lease.confirm();
			if (!confirmed.isDone() && lease.request().backend().answersOn(Thread.currentThread())) {
				return new IllegalStateException("this thread delivers its responses and must not wait for one");
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
