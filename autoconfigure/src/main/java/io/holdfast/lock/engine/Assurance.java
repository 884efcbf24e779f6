package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.LockBackend;

/**
 * Confirms a valid lease at its store before the holder does something irreversible. Most
 * backends respond immediately. A backend whose connection is interrupted may keep the
 * holder waiting, at most for as long as the lease is valid.
 */
final class Assurance {

	private Assurance() {
	}

	/**
	 * Waits for the store's confirmation. The caller must then check whether the lease
	 * was lost or has expired meanwhile.
	 * @return why the holder must not continue although no loss is known, or {@code null}
	 */
	static @Nullable Throwable await(EngineContext context, Lease lease) {
		if (lease.lossMessage() != null) {
			return null;
		}
		LockBackend backend = lease.terms().backend();
		CompletableFuture<Boolean> answer = StoreResponses.within(() -> backend.confirm(lease.grant()),
				lease.remainingValidity().toNanos(), context.time());
		try {
			IdleWait.until(answer);
			if (!answer.get()) {
				lease.lose(LossCause.REFUSED);
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
