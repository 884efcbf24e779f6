package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.support.Stages;

/**
 * One holder's time with a lease, until the holder releases or loses it or passes it on,
 * and the holds that share it.
 *
 * <p>
 * <em>States.</em> {@code HELD} until the last hold ends ({@code ENDED}) or the lease is
 * lost ({@code LOST}). The first of the two wins and is final, except that an ended lease
 * becomes lost if the store rejects its release. The monitor of this object guards the
 * state. Nothing blocks under it: observers must not, and listeners and the store are
 * called outside of it.
 */
final class Lease extends LossState {

	private final EngineContext context;

	final StoreLease store;

	/** The value of the token, which few holders read. */
	private final long token;

	private final long acquiredAt;

	final LocalWaitQueues.Ticket ticket;

	private volatile int holds = 1;

	/** When the last hold ended, if no holds are left. */
	private long endedAt;

	/**
	 * Whether all holds have ended but the {@code minHold} has not. The thread that
	 * clears this flag ends the lease.
	 */
	private volatile boolean lingering;

	private final LeaseEnd end;

	Lease(EngineContext context, ResolvedRequest request, StoreLease store, LocalWaitQueues.Ticket ticket,
			long acquiredAt, AcquisitionObserver observer) {
		super(request, observer);
		this.context = context;
		this.store = store;
		FencingToken next = store.nextToken();
		this.token = next.value();
		this.ticket = ticket;
		this.end = store.end;
		this.acquiredAt = acquiredAt;
		observer.holds(next);
	}

	/** Adds a hold of the same holder; returns {@code false} if the lease has ended. */
	boolean addHold() {
		synchronized (this) {
			if (this.holds == 0) {
				return false;
			}
			this.holds++;
			return true;
		}
	}

	/** Keeps the lock closed for at least this time from now. */
	void keepClosedFor(Duration minHold) {
		synchronized (this) {
			this.end.keepClosedFor(minHold);
		}
	}

	/** Ends one hold, and the lease with the last one; returns the response. */
	CompletableFuture<?> endHold() {
		boolean lingers;
		long now = this.context.time().nanos();
		synchronized (this) {
			lingers = this.holds == 1 && !lost() && this.end.remainingNanos() > 0;
			this.lingering = lingers;
			this.endedAt = now;
			if (--this.holds > 0) {
				return ClosableHold.DONE;
			}
		}
		Duration held = Duration.ofNanos(now - this.acquiredAt);
		reportEnd(held, this.store.validity().leaseTime(), lingers);
		if (lingers) {
			this.context.registry().changed();
			this.context.watchdog().replan(this.store.schedule);
			this.context.time().after(this.end.remainingNanos(), this::releaseIfLingering);
			return ClosableHold.DONE;
		}
		return release();
	}

	private void releaseIfLingering() {
		if (endsLingering()) {
			release();
		}
	}

	/**
	 * Ends the time after the last hold, under the lock, so that the lease is not lost at
	 * the same moment.
	 * @return whether this call has ended it
	 */
	private boolean endsLingering() {
		synchronized (this) {
			boolean ends = this.lingering;
			this.lingering = false;
			return ends;
		}
	}

	/**
	 * Passes the lease on or releases it. Leaves the registry last: a closing engine
	 * awaits the release until then.
	 */
	private CompletableFuture<?> release() {
		if (!lost() && this.store.handOff(request(), this.ticket)) {
			return ClosableHold.DONE;
		}
		CompletableFuture<?> quiet = this.store.unwatch();
		try {
			return lost() ? ClosableHold.DONE : release(quiet);
		}
		finally {
			this.context.registry().remove(this);
		}
	}

	private CompletableFuture<?> release(CompletableFuture<?> quiet) {
		boolean ordered = this.end.isOrdered(quiet);
		CompletableFuture<ReleaseResult> answered = this.end.release(quiet);
		if (Stages.hasResult(answered)) {
			released(answered.join());
			return ClosableHold.DONE;
		}
		// a request that is sent after an ordered release also reaches the store after it
		if (ordered) {
			this.ticket.leave();
		}
		else {
			this.ticket.leaving();
		}
		return answered.handle((answer, failure) -> {
			released(answer);
			return null;
		});
	}

	private void released(@Nullable ReleaseResult answer) {
		if (answer instanceof ReleaseResult.NotHeld) {
			loseAfterEnd(LossCause.REFUSED);
		}
		this.ticket.leave();
	}

	/** Stops watching the lease; completes when no renewal is in progress. */
	private CompletableFuture<?> unwatch() {
		CompletableFuture<?> quiet = this.store.unwatch();
		this.context.registry().remove(this);
		return quiet;
	}

	/** Declares the lease lost, unless it was lost or released before. */
	void lose(LossCause cause) {
		lose(cause, false, listenerThreads());
	}

	/** Declares that the lease was lost at an unknown time before its end. */
	void loseAfterEnd(LossCause cause) {
		lose(cause, true, listenerThreads());
	}

	private void lose(LossCause cause, boolean evenIfReleased, Executor listeners) {
		boolean released;
		synchronized (this) {
			released = this.holds == 0;
			if (lost() || (released && !this.lingering && !evenIfReleased)) {
				return;
			}
			declare(cause);
		}
		CompletableFuture<?> quiet = unwatch();
		this.end.lost(cause, quiet);
		this.ticket.leave();
		// no code relies on a lock that is only kept closed for its minHold
		if (!released || evenIfReleased) {
			announce(listeners);
		}
	}

	/** Returns what runs the listeners of a loss that the present thread has noticed. */
	Executor listenerThreads() {
		return this.context.listenerThreads(request().backend());
	}

	/** Asks the store whether it still keeps the lease, for as long as it is valid. */
	CompletableFuture<Boolean> confirm() {
		return StoreResponses.within(() -> request().backend().confirm(grant()), remainingValidity().toNanos(),
				this.context.time());
	}

	/** Returns why the lease is not reliable, or was not at its end; or {@code null}. */
	@Nullable String lossMessage() {
		if (lost() || (hasEnded() ? this.endedAt : this.context.time().nanos()) < this.store.validUntil()) {
			return declaredLoss();
		}
		return "The validity of lock '%s' has expired (%s, token %s).".formatted(request().lock(), request(),
				this.token);
	}

	/** Whether the store keeps the lock for a holder, a minHold or the lock delay. */
	boolean keepsLock() {
		return !this.end.isReleaseRequested();
	}

	/** Whether a body relies on this lease, or soon may. */
	boolean inUse() {
		return this.holds > 0 && !lost();
	}

	boolean hasEnded() {
		return this.holds == 0;
	}

	/** Whether observers know of this lease, because its caller keeps it. */
	boolean isReported() {
		return observer().isReported();
	}

	/** Whether a closing engine waits for the body or the sending of the release. */
	boolean delaysClosing() {
		return !this.lingering && !lost();
	}

	/**
	 * Declares the lease of a running body lost, which releases it, or has the store keep
	 * the lock for the rest of its minHold.
	 */
	void endAtShutdown(Executor listeners) {
		if (inUse()) {
			lose(LossCause.SHUTDOWN, false, listeners);
			return;
		}
		this.store.endIfIdle();
		CompletableFuture<?> quiet = unwatch();
		if (endsLingering()) {
			this.end.retain(quiet, Duration.ZERO);
			this.ticket.leave();
		}
	}

	Duration remainingValidity() {
		long nanos = lost() ? 0 : this.store.validUntil() - this.context.time().nanos();
		return Duration.ofNanos(Math.max(0, nanos));
	}

	long acquiredAt() {
		return this.acquiredAt;
	}

	EngineContext context() {
		return this.context;
	}

	@Override
	Grant grant() {
		return this.store.grant();
	}

	LockObservation.Scope openScope() {
		return observer().openScope();
	}

	@Override
	FencingToken token() {
		return new FencingToken(this.token);
	}

	@Override
	@Nullable Throwable renewalFailure() {
		return this.store.schedule.failure;
	}

}
