package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;

/**
 * Tracks how long a lock must stay closed, and ends its lease at the store.
 */
final class LeaseEnd {

	private final EngineContext context;

	private final ResolvedRequest request;

	private final Grant grant;

	/** Latest end of the {@code minHold} of its holds on the engine's clock, or 0. */
	private volatile long closedUntil;

	/** Completes when the next caller may ask for the lock after an idle lease. */
	private volatile @Nullable CompletableFuture<Void> idleEnded;

	/** Present once the lease was lost before the end of its {@code minHold}. */
	private volatile @Nullable ClosedAfterLoss closedAfterLoss;

	/** Whether the release was requested or the store has reported the lease's end. */
	private volatile boolean releaseRequested;

	/**
	 * Completes when the store has responded to the release, or has ended the lease;
	 * {@code null} if the claim has made one attempt only, so no late response comes.
	 */
	private final @Nullable CompletableFuture<Void> settled;

	/**
	 * Creates the end of a lease.
	 * @param contended whether the claim has made several attempts
	 */
	LeaseEnd(EngineContext context, ResolvedRequest request, Grant grant, boolean contended) {
		this.context = context;
		this.request = request;
		this.grant = grant;
		this.settled = contended ? new CompletableFuture<>() : null;
	}

	/** Keeps the lock closed for at least this time from now. Calls must not overlap. */
	void keepClosedFor(Duration minHold) {
		if (!minHold.isZero()) {
			this.closedUntil = Math.max(this.closedUntil, this.context.time().nanos() + minHold.toNanos());
		}
	}

	/**
	 * Forgets the {@code minHold} of a holder whose code does not run, also if the lease
	 * was lost before.
	 */
	void keepClosedNoLonger() {
		this.closedUntil = 0;
		ClosedAfterLoss stillClosed = this.closedAfterLoss;
		if (stillClosed != null && !this.releaseRequested) {
			stillClosed.end();
		}
	}

	private Duration lockDelay() {
		return this.context.settings().lockDelay();
	}

	/** Returns the remaining time to keep the lock closed; not positive if none. */
	long remainingNanos() {
		long until = this.closedUntil;
		return (until > 0) ? until - this.context.time().nanos() : 0;
	}

	boolean isReleaseRequested() {
		return this.releaseRequested;
	}

	/**
	 * Releases the lease.
	 * @param quiet completes when no renewal of the lease is in progress
	 */
	CompletableFuture<ReleaseResult> release(CompletableFuture<?> quiet) {
		boolean ordered = isOrdered(quiet);
		this.releaseRequested = true;
		CompletableFuture<ReleaseResult> answered = this.context.retrier()
			.release(this.request.backend(), this.grant, quiet);
		if (this.settled != null) {
			answered.whenComplete((answer, failure) -> settle());
		}
		return ordered ? answered : this.context.releases().add(this.request, answered);
	}

	/** Records that the store has reported the end of the lease, so none is released. */
	private void endedByStore() {
		this.releaseRequested = true;
		settle();
	}

	private void settle() {
		if (this.settled != null) {
			this.settled.complete(null);
		}
	}

	/**
	 * Completes with the first response to the release, or when it is overdue. A
	 * withdrawal of the claim must not overtake the release, which would not find the
	 * lease.
	 */
	CompletableFuture<?> settled() {
		return (this.settled != null) ? this.settled : ClosableHold.DONE;
	}

	/**
	 * Whether a request that is sent after the release also reaches the store after it.
	 * Then the next caller need not wait for the response.
	 * @param quiet completes when no renewal of the lease is in progress
	 */
	boolean isOrdered(CompletableFuture<?> quiet) {
		return quiet.isDone() && this.request.backend().capabilities().has(Capability.ORDERED);
	}

	/**
	 * Ends a lease that no hold uses. If the store no longer kept it, its last holder has
	 * lost it.
	 * @param last the last holder
	 * @param cause the cause of its loss, or {@code null} if none is known
	 * @param mayBeGone whether the store may have ended it since the last hold, so that
	 * no holder has lost it
	 * @param quiet completes when no renewal of the lease is in progress
	 */
	void endIdle(Lease last, @Nullable LossCause cause, boolean mayBeGone, CompletableFuture<?> quiet) {
		if (cause == LossCause.REFUSED || cause == LossCause.REVOKED) {
			endedByStore();
			if (!mayBeGone) {
				last.loseAfterEnd(cause);
			}
			idleEnded(last);
			return;
		}
		boolean ordered = isOrdered(quiet);
		CompletableFuture<ReleaseResult> answered = release(quiet);
		if (ordered) {
			idleEnded(last);
		}
		answered.whenComplete((answer, failure) -> {
			if (!mayBeGone && answer instanceof ReleaseResult.NotHeld) {
				last.loseAfterEnd(LossCause.REFUSED);
			}
			idleEnded(last);
		});
	}

	/** Called before the lease is idle for the first time. */
	void mayBeIdle() {
		if (this.idleEnded == null) {
			this.idleEnded = new CompletableFuture<>();
		}
	}

	/** Returns the future of a lease that was idle at any time. */
	CompletableFuture<Void> idleEnded() {
		return Objects.requireNonNull(this.idleEnded);
	}

	private void idleEnded(Lease last) {
		last.ticket.forget(last.store);
		CompletableFuture<Void> ended = this.idleEnded;
		if (ended != null) {
			ended.complete(null);
		}
	}

	/** Releases the lease after its loss, unless the store has already ended it. */
	void lost(LossCause cause, CompletableFuture<?> quiet) {
		if (cause == LossCause.REFUSED || cause == LossCause.REVOKED) {
			endedByStore();
		}
		// no timer of a closing engine runs until the end of the delay
		else if (cause == LossCause.SHUTDOWN && (remainingNanos() > 0 || !lockDelay().isZero())) {
			retain(quiet, lockDelay());
		}
		else {
			releaseAfterLoss(cause, quiet);
		}
	}

	/**
	 * Releases a lost lease, because a session-bound store may otherwise keep the lock
	 * for a long time. The store still keeps it when the validity ends, and perhaps for
	 * the rest of the {@code minHold}. Only an operator ends that.
	 */
	private void releaseAfterLoss(LossCause cause, CompletableFuture<?> quiet) {
		long minHold = (cause != LossCause.FORCED) ? remainingNanos() : 0;
		long closed = Math.max(lockDelay().toNanos(), minHold);
		if (closed <= 0) {
			release(quiet);
			return;
		}
		boolean retained = cause != LossCause.FORCED
				&& this.request.backend().capabilities().has(Capability.SESSION_BOUND);
		ClosedAfterLoss stillClosed = new ClosedAfterLoss(this.context.registry(), this.context.time(), closed,
				() -> release(quiet), retained ? (rest) -> retain(quiet, rest) : null);
		if (minHold > 0) {
			this.closedAfterLoss = stillClosed;
			// the holder may have been discarded at this moment
			if (this.closedUntil == 0) {
				keepClosedNoLonger();
			}
		}
	}

	/**
	 * Asks the store to keep the lock for the rest of its {@code minHold} or the lock
	 * delay, which outlast this JVM. This is not the end of the lease: a late response to
	 * the acquisition must not withdraw the lock that is kept.
	 * @param quiet completes when no renewal of the lease is in progress
	 * @param atLeast the minimum time to keep the lock
	 */
	void retain(CompletableFuture<?> quiet, Duration atLeast) {
		long until = Math.max(this.closedUntil, this.context.time().nanos() + atLeast.toNanos());
		this.context.retrier()
			.retain(this.request.backend(), this.grant, quiet,
					() -> Duration.ofNanos(until - this.context.time().nanos()));
	}

}
