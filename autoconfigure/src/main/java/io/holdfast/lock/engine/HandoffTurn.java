package io.holdfast.lock.engine;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockState;
import io.holdfast.lock.spi.Capability;
import io.holdfast.lock.spi.LockBackend;

/**
 * The turn of this JVM with a lease: how many holders the lease may serve, and for how
 * long, before it is released for callers of other JVMs.
 *
 * <p>
 * The first turn begins with the grant. In the second half of a turn, the store is asked
 * once whether other claims wait for the lock. If none does, the next turn begins at the
 * time of the question, as if the lock had been released and granted again at that
 * moment. A claim that comes later therefore waits no longer than it would have then, and
 * the holders do not wait for the store between two turns.
 *
 * <p>
 * A lease that was granted after a rejection is released after its first turn, because
 * other JVMs want the lock as well. So is a lease of a blocking backend, whose requests
 * occupy a thread and a connection. Thread-safe.
 */
final class HandoffTurn {

	private final StoreLease lease;

	private final EngineContext context;

	private volatile long startedAt;

	/** The number of holders before this turn. */
	private volatile int holdersBefore;

	/** Whether the store may be asked, and has not been asked in this turn. */
	private volatile boolean mayAsk;

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
		this.mayAsk = !contended && !backend().capabilities().has(Capability.BLOCKING);
	}

	/** Whether the lease may serve another holder. */
	boolean isOpen() {
		return !isOver() && left() > 0 && holders() < limits().maxHolds()
				&& this.lease.holders < EngineSettings.Handoff.MOST_HOLDS;
	}

	/** Whether the turn has ended with its time, or with the engine. */
	boolean isOver() {
		return this.over || this.context.registry().isClosed();
	}

	/**
	 * Called when the lease is idle for the next holder. Ends the lease if that one does
	 * not come before the turn ends.
	 */
	void passedOn() {
		if (this.cancelEnd == null) {
			endInTime();
		}
		if (this.mayAsk && isHalfOver()) {
			this.mayAsk = false;
			askForNext();
		}
	}

	private void endInTime() {
		this.cancelEnd = this.context.time().after(left(), () -> {
			if (left() > 0) {
				endInTime();
				return;
			}
			this.over = true;
			this.lease.endIfIdle();
		});
	}

	void cancel() {
		Runnable cancel = this.cancelEnd;
		if (cancel != null) {
			cancel.run();
		}
	}

	private void askForNext() {
		long askedAt = this.context.time().nanos();
		int holdersSoFar = this.lease.holders;
		StoreResponses.ask(backend()::find, this.lease.grant().claim().lock()).whenComplete((state, failure) -> {
			if (state != null && isUnwanted(state)) {
				this.holdersBefore = holdersSoFar;
				this.startedAt = askedAt;
				this.mayAsk = true;
			}
		});
	}

	private static boolean isUnwanted(LockState state) {
		Integer waiters = state.waiters();
		return waiters != null && waiters == 0;
	}

	private boolean isHalfOver() {
		return left() <= limits().maxTime().toNanos() / 2 || holders() >= limits().maxHolds() / 2;
	}

	/** Returns the remaining time of this turn. */
	private long left() {
		return this.startedAt + limits().maxTime().toNanos() - this.context.time().nanos();
	}

	/** Returns the number of holders in this turn. */
	private int holders() {
		return this.lease.holders - this.holdersBefore;
	}

	private EngineSettings.Handoff limits() {
		return this.context.settings().handoff();
	}

	private LockBackend backend() {
		return this.lease.holder().request().backend();
	}

}
