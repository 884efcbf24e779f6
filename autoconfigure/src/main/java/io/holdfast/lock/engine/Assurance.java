package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.LockBackend;

/**
 * Makes sure of a valid lease at its store, for a holder who is about to do what cannot
 * be undone. Most stores answer at once; one whose connection is interrupted may keep the
 * holder waiting, at most for as long as the lease is valid.
 */
final class Assurance {

	private Assurance() {
	}

	/**
	 * Wait for the word of the store. Whether the lease is lost meanwhile, or has run
	 * out, is for the caller to see.
	 * @return why the holder must not go on although nothing is lost, or {@code null}
	 */
	static @Nullable Throwable await(EngineContext context, Lease lease) {
		if (lease.lossMessage() != null) {
			return null;
		}
		LockBackend backend = lease.terms().backend();
		CompletableFuture<Boolean> answer = Stages.within(() -> backend.confirm(lease.grant()),
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
