package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.KeptLock;

/**
 * The lease of a lock at its store, which may pass from one holder of this JVM to the
 * next without a request to the store. Each holder has its own {@link Lease}.
 *
 * <p>
 * <em>Handoff.</em> Between two holders the lease is {@code IDLE}: one atomic step
 * decides whether the next holder takes it or it is released, because no holder came in
 * time, another instance demands it, the lease was lost, or the engine closes.
 */
final class StoreLease extends LeaseState {

	private final EngineContext context;

	private final Grant grant;

	final LeaseEnd end;

	final RenewalSchedule schedule;

	/** When the grant arrived. */
	final long grantedAt;

	private volatile Validity validity;

	/** The present holder, or the last one while the lease is idle. */
	private volatile @Nullable Lease holder;

	private volatile @Nullable LossCause loss;

	/** The latest binding to a thread, for operators, who may see an older one. */
	LockContext.@Nullable Binding binding;

	/** Number of holders so far; only the present or next holder changes it. */
	volatile int holders;

	private final boolean contended;

	/** Created for the first caller that waits for the lock. */
	private volatile @Nullable HandoffTurn turn;

	/** {@code null} if the lease ends with its last hold. */
	private final @Nullable StickyTime sticky;

	private StoreLease(EngineContext context, ResolvedRequest request, Grant grant, Validity validity,
			boolean contended) {
		this.context = context;
		this.grant = grant;
		this.grantedAt = context.time().nanos();
		this.validity = validity;
		this.contended = contended;
		this.end = new LeaseEnd(context, request, grant, contended);
		this.schedule = new RenewalSchedule(this);
		this.sticky = grant.sticky() ? new StickyTime(this, context) : null;
	}

	/**
	 * Returns the lease of a grant.
	 * @param contended whether an earlier attempt was rejected
	 */
	static StoreLease of(EngineContext context, ResolvedRequest request, Grant grant, long sentAt, boolean contended) {
		return new StoreLease(context, request, grant, Validity.of(grant.lease(), sentAt, context.settings()),
				contended);
	}

	/**
	 * Returns the lease of a lock that the store keeps for a waiter, or {@code null} if
	 * the waiter has to ask for it: nothing renews it, or the news is too old.
	 */
	static @Nullable StoreLease ofKept(EngineContext context, ResolvedRequest request, KeptLock lock, long sentAt) {
		long now = context.time().nanos();
		Validity validity = Validity.of(lock, sentAt, now, context.settings());
		boolean usable = request.renew() && validity.isFresh(now) && Validity.isRecent(lock, sentAt, now);
		return usable ? new StoreLease(context, request, lock.grant(), validity, true) : null;
	}

	/** Returns the token of the next holder, which is greater than all earlier ones. */
	FencingToken nextToken() {
		return this.grant.fencingToken(this.holders);
	}

	/**
	 * Starts the time of the next holder, which may be lost at once. A shared holder lets
	 * the next caller ask the store.
	 * @param at the present time
	 * @param observer follows the hold
	 */
	Lease start(ResolvedRequest request, LocalWaitQueues.Ticket ticket, long at, AcquisitionObserver observer) {
		try {
			Lease next = new Lease(this.context, request, this, ticket, at, observer);
			this.end.keepClosedFor(request.minHold());
			start(next);
			if (request.mode() == LockMode.SHARED) {
				ticket.leave();
			}
			return next;
		}
		catch (RuntimeException | Error ex) {
			endAfterFailure();
			throw ex;
		}
	}

	/**
	 * Starts renewal with the first holder, and listens for a revocation by the store.
	 */
	private void start(Lease next) {
		Lease previous = this.holder;
		this.holder = next;
		this.holders++;
		this.context.registry().add(next);
		if (previous == null) {
			this.context.watchdog().watch(this.schedule);
			if (this.grant.revocable()) {
				this.grant.revoked().whenComplete((news, failure) -> lose(LossCause.REVOKED));
			}
			if (this.sticky != null) {
				this.sticky.listen();
			}
			return;
		}
		this.context.registry().remove(previous);
		this.context.watchdog().replan(this.schedule);
		LossCause lostMeanwhile = this.loss;
		if (lostMeanwhile != null) {
			next.lose(lostMeanwhile);
		}
		this.context.observer().handedOff(next.request().lock(), next.backendName());
	}

	/**
	 * Ends the hold of the present holder. The lease is idle then, if it is sticky or if
	 * another caller of this JVM waits for the lock and may take it over.
	 * @param ticket the ticket of the present holder
	 * @return whether the lease is idle; otherwise the holder releases it
	 */
	boolean handOff(ResolvedRequest request, LocalWaitQueues.Ticket ticket) {
		StickyTime stays = mayStay() ? this.sticky : null;
		if (stays == null && !ticket.mayHaveSuccessor()) {
			return false;
		}
		HandoffTurn present = turn();
		boolean open = (stays != null) ? !present.isOver() : present.opensForNext();
		if (!open || this.loss != null || !mayPassOn(request) || !ticket.passOn(this)) {
			return false;
		}
		if (stays != null) {
			stays.start();
		}
		else {
			present.askForNext();
		}
		// the timer or the closing engine may have looked before the lease was idle
		if (present.isOver()) {
			endIfIdle();
		}
		return true;
	}

	/** Whether the lease may stay without a hold, although no caller waits for it. */
	boolean mayStay() {
		return this.sticky != null && !hasEnded() && this.sticky.mayStart();
	}

	/** Returns the turn, which only the present holder creates. */
	private HandoffTurn turn() {
		HandoffTurn present = this.turn;
		if (present == null) {
			present = new HandoffTurn(this, this.context, this.contended);
			this.turn = present;
		}
		return present;
	}

	private boolean mayPassOn(ResolvedRequest request) {
		return request.mayPassLeaseOn() && !this.context.settings().awaitRelease()
				&& this.validity.isFresh(this.context.time().nanos());
	}

	/**
	 * Takes over an idle lease, or releases it if it does not suit the request.
	 * @return whether the lease is taken over
	 */
	boolean takeOver(ResolvedRequest next) {
		if (mayPassOn(next) && this.loss == null
				&& this.context.settings().storeLease(next.leaseTime()).equals(this.grant.claim().leaseTime())) {
			return becomesHeld();
		}
		endIfIdle();
		return false;
	}

	/** Whether the lease is idle, and may be so for long. */
	boolean isUnused() {
		return this.sticky != null && isIdle();
	}

	/**
	 * Releases the lease if it has no holder. If the store no longer kept it, its last
	 * holder has lost it.
	 */
	void endIfIdle() {
		if (endsIdle()) {
			end(holder(), this.loss);
		}
	}

	/**
	 * Releases the lease on behalf of an operator if it has no holder. None has lost it.
	 * @return whether this call has released it
	 */
	boolean endIfIdleByForce() {
		if (!endsIdle()) {
			return false;
		}
		end(holder(), LossCause.FORCED);
		return true;
	}

	/** Releases the lease of a holder that could not start. */
	private void endAfterFailure() {
		Lease present = this.holder;
		if (present != null && endsHeld()) {
			end(present, this.loss);
		}
	}

	private void end(Lease last, @Nullable LossCause cause) {
		boolean mayBeGone = cause == LossCause.FORCED || (this.sticky != null && this.sticky.mayBeGone(cause));
		this.end.endIdle(last, cause, mayBeGone, unwatch());
		this.context.registry().remove(last);
	}

	/** Restarts the validity after a renewal. */
	void extended(long sentAt, Duration lease) {
		this.validity = this.validity.renewed(lease, sentAt, this.context.settings());
	}

	/**
	 * Declares the lease lost, for its present holder or for the next one. The cause is
	 * set first: a holder that takes over at this moment sees it.
	 */
	void lose(LossCause cause) {
		this.loss = cause;
		endIfIdle();
		Lease present = this.holder;
		if (present != null) {
			present.lose(cause);
		}
	}

	/** Stops renewal and handoff; completes when no renewal is in progress. */
	CompletableFuture<?> unwatch() {
		HandoffTurn present = this.turn;
		if (present != null) {
			present.end();
		}
		if (this.sticky != null) {
			this.sticky.cancel();
		}
		return this.context.watchdog().unwatch(this.schedule);
	}

	Grant grant() {
		return this.grant;
	}

	Validity validity() {
		return this.validity;
	}

	long validUntil() {
		return this.validity.until();
	}

	/** Returns the present holder, or the last one while the lease is idle. */
	Lease holder() {
		Lease present = this.holder;
		if (present == null) {
			throw new IllegalStateException("No holder has started");
		}
		return present;
	}

}
