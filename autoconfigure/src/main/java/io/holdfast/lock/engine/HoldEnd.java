package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.holdfast.lock.spi.TransactionBoundary.DeferrableHold;

/**
 * Ends a hold when its caller has closed it and no transaction defers its release.
 * Thread-safe.
 */
final class HoldEnd {

	static final CompletableFuture<?> DONE = CompletableFuture.completedFuture(null);

	private final EngineContext context;

	private final Supplier<CompletableFuture<?>> action;

	private final AtomicBoolean closed = new AtomicBoolean();

	/** Number of users: the caller, and each transaction that defers the release. */
	private final AtomicInteger users = new AtomicInteger(1);

	/**
	 * Creates the end of a hold.
	 * @param action ends the hold, and completes when the store has responded
	 */
	HoldEnd(EngineContext context, Supplier<CompletableFuture<?>> action) {
		this.context = context;
		this.action = action;
	}

	/** Lets a transaction of the current thread defer the release of a new hold. */
	void defer(DeferrableHold hold) {
		try {
			this.context.boundary().deferRelease(hold);
		}
		catch (RuntimeException | Error ex) {
			this.action.get();
			throw ex;
		}
	}

	Runnable deferral() {
		boolean deferred = this.context.boundary().defersReleases()
				&& this.users.getAndUpdate((count) -> (count > 0) ? count + 1 : 0) > 0;
		return deferred ? this::endUse : () -> {
		};
	}

	/** Closes the hold; completes with the store's response if callers wait for it. */
	CompletableFuture<?> close(DeferrableHold hold) {
		if (!this.closed.compareAndSet(false, true)) {
			return DONE;
		}
		CompletableFuture<?> answered;
		try {
			this.context.boundary().deferRelease(hold);
		}
		finally {
			answered = endUse();
		}
		return this.context.settings().awaitRelease() ? answered : DONE;
	}

	/**
	 * Closes the hold like {@link #close}, and completes on a thread for callers' code.
	 */
	CompletableFuture<?> closeAsync(DeferrableHold hold) {
		CompletableFuture<?> answered = close(hold);
		return answered.isDone() ? answered : answered.thenRunAsync(() -> {
		}, this.context.workers().callbacks());
	}

	private CompletableFuture<?> endUse() {
		return (this.users.decrementAndGet() == 0) ? this.action.get() : DONE;
	}

}
