package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.TransactionBoundary.DeferrableHold;

/**
 * Ends a hold when its caller has closed it and no transaction defers its release.
 * Thread-safe.
 */
final class HoldEnd {

	static final CompletableFuture<?> DONE = CompletableFuture.completedFuture(null);

	private final Rules rules;

	private final Supplier<CompletableFuture<?>> action;

	private final AtomicBoolean closed = new AtomicBoolean();

	/** Number of users: the caller, and each transaction that defers the release. */
	private final AtomicInteger users = new AtomicInteger(1);

	/**
	 * Creates the end of a hold.
	 * @param action ends the hold, and completes when the store has responded
	 */
	HoldEnd(Rules rules, Supplier<CompletableFuture<?>> action) {
		this.rules = rules;
		this.action = action;
	}

	/** Lets a transaction of the current thread defer the release of a new hold. */
	void defer(DeferrableHold hold) {
		try {
			this.rules.boundary().deferRelease(hold);
		}
		catch (RuntimeException | Error ex) {
			this.closed.set(true);
			endUse();
			throw ex;
		}
	}

	Runnable deferral() {
		boolean deferred = this.rules.boundary().defersReleases()
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
			this.rules.boundary().deferRelease(hold);
		}
		finally {
			answered = endUse();
		}
		return this.rules.awaitRelease() ? answered : DONE;
	}

	/**
	 * Closes the hold like {@link #close}, and completes on a thread for callers' code.
	 */
	CompletableFuture<?> closeAsync(DeferrableHold hold) {
		CompletableFuture<?> answered = close(hold);
		return answered.isDone() ? answered : answered.thenRunAsync(() -> {
		}, this.rules.callbacks());
	}

	private CompletableFuture<?> endUse() {
		return (this.users.decrementAndGet() == 0) ? this.action.get() : DONE;
	}

	/**
	 * Rules of one engine for the end of its holds.
	 *
	 * @param boundary relates holds to the caller's transactions
	 * @param awaitRelease whether callers wait for the store's response to a release
	 * @param callbacks runs what follows that response
	 */
	record Rules(TransactionBoundary boundary, boolean awaitRelease, Executor callbacks) {

	}

}
