package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;

import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.TransactionBoundary.DeferrableHold;

/**
 * A hold that ends when its caller has closed it and no transaction defers its release.
 * Thread-safe.
 */
abstract class ClosableHold implements DeferrableHold {

	static final CompletableFuture<?> DONE = CompletableFuture.completedFuture(null);

	private static final AtomicIntegerFieldUpdater<ClosableHold> DEFERRALS = AtomicIntegerFieldUpdater
		.newUpdater(ClosableHold.class, "deferrals");

	private static final AtomicIntegerFieldUpdater<ClosableHold> CLOSED = AtomicIntegerFieldUpdater
		.newUpdater(ClosableHold.class, "closed");

	private static final int ENDED = -1;

	final Rules rules;

	/** 1 once the caller has closed the hold. */
	private volatile int closed;

	/** Number of transactions that defer the release, or {@link #ENDED}. */
	private volatile int deferrals;

	ClosableHold(Rules rules) {
		this.rules = rules;
	}

	/** Ends the hold; completes when the store has responded. */
	abstract CompletableFuture<?> end();

	/** Lets a transaction of the current thread defer the release of this new hold. */
	void defer() {
		try {
			this.rules.boundary().deferRelease(this);
		}
		catch (RuntimeException | Error ex) {
			this.closed = 1;
			endUse();
			throw ex;
		}
	}

	@Override
	public Runnable deferRelease() {
		boolean deferred = this.rules.boundary().defersReleases()
				&& DEFERRALS.getAndUpdate(this, (count) -> (count > ENDED) ? count + 1 : ENDED) > ENDED;
		return deferred ? this::endUse : () -> {
		};
	}

	/** Whether the caller has closed the hold, which may end later. */
	boolean isClosed() {
		return this.closed == 1;
	}

	/** Closes the hold; completes with the store's response if callers wait for it. */
	CompletableFuture<?> release() {
		if (!CLOSED.compareAndSet(this, 0, 1)) {
			return DONE;
		}
		CompletableFuture<?> answered;
		try {
			this.rules.boundary().deferRelease(this);
		}
		finally {
			answered = endUse();
		}
		return this.rules.awaitRelease() ? answered : DONE;
	}

	/**
	 * Closes the hold like {@link #release}, and completes on a thread for callers' code.
	 */
	public CompletableFuture<?> closeAsync() {
		CompletableFuture<?> answered = release();
		return answered.isDone() ? answered : answered.thenRunAsync(() -> {
		}, this.rules.callbacks());
	}

	/**
	 * Ends a hold that no code has used, even if a transaction defers its release;
	 * completes when the store has responded.
	 */
	CompletableFuture<?> endUnused() {
		boolean ends = CLOSED.compareAndSet(this, 0, 1) && DEFERRALS.getAndSet(this, ENDED) > ENDED;
		return ends ? end() : DONE;
	}

	private CompletableFuture<?> endUse() {
		// the caller is a user, too: the last one finds no deferral left
		return (DEFERRALS.decrementAndGet(this) == ENDED) ? end() : DONE;
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
