package io.holdfast.lock.engine;

import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.LockBackend;
import io.holdfast.lock.spi.OwnerId;

/**
 * The turn of this JVM with a lease: how many holders the lease may serve, and for how
 * long, before it is released for callers of other JVMs.
 *
 * <p>
 * The first turn begins with the grant. In the second half of the time of a turn, the
 * store is asked once who has the lock and whether other claims wait for it. If it is
 * this lease and none does, the next turn begins at the time of the question, as if the
 * lock had been released and granted again at that moment. A claim that comes later
 * therefore waits no longer than it would have then, and the holders do not wait for the
 * store between two turns. If the store no longer has this lease, it ends with its holder
 * and is renewed at once, which tells that holder.
 *
 * <p>
 * A blocking backend is asked on a thread that has passed the lease on, because the
 * question must not occupy a thread of the engine.
 *
 * <p>
 * A lease has one turn if it was granted after a rejection, because other JVMs want the
 * lock as well, and if it is sticky, because they can demand it. Thread-safe.
 */
final class HandoffTurn {

	private final StoreLease lease;

	private final EngineContext context;

	private volatile long startedAt;

	/** The number of holders before this turn. */
	private volatile int holdersBefore;

	/** Whether the store may be asked, and has not been asked in this turn. */
	private final AtomicBoolean mayAsk;

	private volatile boolean over;

	private volatile @Nullable Runnable cancelEnd;

	/**
	 * Creates the first turn.
	 * @param contended whether the grant followed a rejection
	 */
	HandoffTurn(StoreLease lease, EngineContext context, boolean contended) {
		this.lease = lease;
		this.context = context;
		this.startedAt = lease.grantedAt;
		this.mayAsk = new AtomicBoolean(!contended && !lease.grant().sticky());
	}

	/**
	 * Whether the present holder may leave the lease to another one. From then on, a
	 * lease that is idle at the end of the turn ends.
	 */
	boolean opensForNext() {
		EngineSettings.Handoff limits = this.context.settings().handoff();
		int holders = this.lease.holders - this.holdersBefore;
		if (isOver() || left() <= 0 || holders >= limits.maxHolds()
				|| this.lease.holders >= EngineSettings.Handoff.MOST_HOLDS) {
			return false;
		}
		try {
			if (this.cancelEnd == null) {
				endInTime();
			}
			return true;
		}
		catch (RuntimeException | Error ex) {
			// nothing would end the idle lease, so its holder releases it
			return false;
		}
	}

	/** Whether the lease serves no further holder, or the engine closes. */
	boolean isOver() {
		return this.over || this.context.registry().isClosed();
	}

	private void endInTime() {
		Runnable cancelTimer = this.context.time().after(left(), this::onTimer);
		this.cancelEnd = cancelTimer;
		if (this.over) {
			cancelTimer.run();
		}
	}

	private void onTimer() {
		if (left() > 0) {
			endInTime();
			return;
		}
		this.over = true;
		this.lease.endIfIdle();
	}

	/** Ends the turn together with the lease. */
	void end() {
		this.over = true;
		Runnable cancel = this.cancelEnd;
		if (cancel != null) {
			cancel.run();
		}
	}

	/** Asks whether another turn may follow, if half of the time is over. */
	void askForNext() {
		if (!isTimeToAsk()) {
			return;
		}
		if (!backend().capabilities().has(Capability.BLOCKING)) {
			ask();
		}
		else {
			CallerRequests.addQuestion(this::askHereIfPossible);
		}
	}

	private boolean isTimeToAsk() {
		return this.mayAsk.get() && !isOver() && left() <= this.context.settings().handoff().maxTime().toNanos() / 2;
	}

	/** Leaves the question to another thread that passes the lease on, if necessary. */
	private void askHereIfPossible() {
		if (CallerRequests.maySend(backend()::findsOnCaller)) {
			ask();
		}
	}

	/** Asks unless another thread has done so in this turn. */
	private void ask() {
		if (!isTimeToAsk() || !this.mayAsk.compareAndSet(true, false)) {
			return;
		}
		long askedAt = this.context.time().nanos();
		int holdersSoFar = this.lease.holders;
		StoreResponses.ask(backend()::find, this.lease.grant().claim().lock()).whenComplete((state, failure) -> {
			if (state != null) {
				answered(state, askedAt, holdersSoFar);
			}
		});
	}

	private void answered(LockState state, long askedAt, int holdersSoFar) {
		if (!names(state, this.lease.grant().claim().owner())) {
			this.over = true;
			this.lease.endIfIdle();
			this.context.watchdog().renewNow(this.lease.schedule);
		}
		else if (isUnwanted(state)) {
			this.holdersBefore = holdersSoFar;
			this.startedAt = askedAt;
			this.mayAsk.set(true);
		}
	}

	private static boolean names(LockState state, OwnerId owner) {
		return state.holders().stream().anyMatch((holder) -> holder.ownerId().equals(owner.value()));
	}

	private static boolean isUnwanted(LockState state) {
		Integer waiters = state.waiters();
		return waiters != null && waiters == 0;
	}

	/** Returns the remaining time of this turn. */
	private long left() {
		return this.startedAt + this.context.settings().handoff().maxTime().toNanos() - this.context.time().nanos();
	}

	private LockBackend backend() {
		return this.lease.holder().request().backend();
	}

}
