package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.TransactionBoundary;
import io.holdfast.lock.spi.TransactionBoundary.SetAside;
import io.holdfast.lock.support.DurationText;

/**
 * One use of a lease by its holder. Re-entrant holds share the lease.
 */
final class Hold implements HeldLocks, TransactionBoundary.DeferrableHold {

	private static final String COMMIT_REFUSED = " The commit was refused and the transaction is rolled back, so it wrote nothing. Repeat the call.";

	private final EngineContext context;

	private final Lease lease;

	private final HoldEnd end;

	private final boolean reentrant;

	private volatile LockContext.@Nullable Binding binding;

	private int depth;

	private volatile boolean userManaged;

	private volatile boolean ended;

	private volatile boolean confirmed;

	private volatile SetAside setAside = SetAside.NOTHING;

	Hold(EngineContext context, Lease lease) {
		this(context, lease, false);
	}

	private Hold(EngineContext context, Lease lease, boolean reentrant) {
		this.context = context;
		this.lease = lease;
		this.reentrant = reentrant;
		this.end = new HoldEnd(context.boundary(), this::end);
	}

	/**
	 * Makes this the innermost hold of the current thread. If requested, the thread is
	 * interrupted when the lease is lost while a hold of that lease is still bound to it.
	 * Later work of the thread is not interrupted.
	 * @param depth how many holds of this thread surround this one
	 */
	Hold bind(int depth) {
		this.depth = depth;
		LockContext.Binding bound = LockContext.bind(this);
		this.binding = bound;
		if (!this.reentrant && this.lease.terms().interruptOnLoss()) {
			this.lease.onLost((event) -> bound.interruptIfAny(this::sharesLease));
		}
		this.end.defer(this);
		return this;
	}

	int depth() {
		return this.depth;
	}

	private boolean sharesLease(LockHandle handle) {
		return handle instanceof Hold other && other.lease == this.lease;
	}

	/**
	 * Re-enters the lock.
	 * @param minHold the minimum time from now for which the lock must stay closed
	 * @return another hold of the same lease, or {@code null} if the lease has ended
	 */
	@Nullable Hold reenter(Duration minHold) {
		String lost = lossMessage();
		if (lost != null) {
			throw new LockLostException(lock(), backend(), lost
					+ " It cannot be re-entered. Let this call fail, verify what it did, and repeat it." + diagnosis());
		}
		return this.lease.addHold(minHold) ? new Hold(this.context, this.lease, true) : null;
	}

	/**
	 * Fails if the lease was lost while the other locks of the request were acquired. A
	 * body must not start without one of its locks.
	 */
	void requireHeldAtStart() {
		String lost = lossMessage();
		if (lost != null) {
			throw new LockLostException(lock(), backend(), lost
					+ " This happened while waiting for the other locks of the request, so the call did not start and none of them is held. Repeat it; use 'renew = true', or a lease that is longer than the wait.");
		}
	}

	Lease lease() {
		return this.lease;
	}

	boolean belongsTo(EngineContext engine) {
		return this.context == engine;
	}

	@Override
	public HeldLocks userManaged() {
		this.userManaged = true;
		return this;
	}

	@Override
	public HeldLocks settingAside(SetAside setAside) {
		this.setAside = setAside;
		return this;
	}

	/** Computed only when a call is rejected, so it costs nothing otherwise. */
	@Override
	public String diagnosis() {
		if (!this.userManaged || !LockContext.handles().contains(this)) {
			return "";
		}
		return " It was acquired in code by this thread ('%s') %s ago and is not closed yet. If that code has returned, the lock remains on the thread and fails every later transaction: close its handle, preferably with try-with-resources."
			.formatted(Thread.currentThread().getName(),
					DurationText.ofNanos(this.context.time().nanos() - this.lease.acquiredAt()));
	}

	@Override
	public LockName lock() {
		return this.lease.terms().lock();
	}

	@Override
	public String backend() {
		return this.lease.backendName();
	}

	@Override
	public LockMode mode() {
		return this.lease.terms().mode();
	}

	@Override
	public String ownerId() {
		return this.lease.ownerId();
	}

	@Override
	public FencingToken fencingToken() {
		return this.lease.token();
	}

	@Override
	public Duration remainingValidity() {
		return this.ended ? Duration.ZERO : this.lease.remainingValidity();
	}

	@Override
	public boolean isHeld() {
		return lossMessage() == null;
	}

	@Override
	public void assertHeld() {
		failUnlessSure(
				" What this call did may overlap with another holder's work. Verify it, then repeat it. Check for pauses and the store's health at this time.",
				" It is not known to be lost. Check again, or undo what this call did and repeat it.");
	}

	private void failUnlessSure(String ifLost, String ifInDoubt) {
		Throwable doubt = this.ended ? null : Assurance.await(this.context, this.lease);
		String lost = lossMessage();
		if (lost != null) {
			throw new LockLostException(lock(), backend(), lost + ifLost + diagnosis());
		}
		if (doubt != null) {
			throw new LockBackendException(lock(), backend(),
					"Lock '%s' is in doubt: backend %s cannot confirm it (%s; %s, token %s).".formatted(lock(),
							backend(), doubt, this.lease.terms(), fencingToken()) + ifInDoubt,
					doubt);
		}
	}

	private @Nullable String lossMessage() {
		return this.ended
				? "Lock '%s' was already released (%s, token %s).".formatted(lock(), this.lease.terms(), fencingToken())
				: this.lease.lossMessage();
	}

	@Override
	public void assertHeldAtCommit() {
		try {
			failUnlessSure(COMMIT_REFUSED, COMMIT_REFUSED);
		}
		catch (LockException ex) {
			this.context.observer().commitRefused(lock(), backend());
			throw ex;
		}
		this.setAside.requireUnchanged(lock());
		this.confirmed = true;
	}

	@Override
	public void assertHeldAtEnd() {
		failUnlessConfirmed(this.lease.lossMessage());
		if (!this.confirmed) {
			this.setAside.requireUnchanged(lock());
		}
	}

	@Override
	public void assertEndedInTime() {
		failUnlessConfirmed(this.lease.lost() ? this.lease.lossMessage() : null);
	}

	private void failUnlessConfirmed(@Nullable String message) {
		if (message != null && !this.confirmed) {
			throw new LockLostException(lock(), backend(), message
					+ " No commit was checked for it, so what this call did may overlap with another holder's work. Verify it before repeating it.");
		}
	}

	@Override
	public void onLost(Consumer<LockLostEvent> listener) {
		this.lease.onLost(listener);
	}

	@Override
	public void close() {
		boolean mayWait = isBoundHere();
		CompletableFuture<?> answered = release();
		if (mayWait) {
			IdleWait.uninterruptibly(answered);
			answered.join();
		}
	}

	@Override
	public CompletableFuture<?> closeAsync() {
		CompletableFuture<?> answered = release();
		return answered.isDone() ? answered : answered.thenRunAsync(() -> {
		}, this.context.workers().callbacks());
	}

	/** Ends this hold; completes with the store's response if callers wait for it. */
	CompletableFuture<?> release() {
		CompletableFuture<?> answered = this.end.close(this);
		return this.context.settings().awaitRelease() ? answered : HoldEnd.DONE;
	}

	boolean isBoundHere() {
		return this.binding != null && LockContext.handles().contains(this);
	}

	@Override
	public Runnable deferRelease() {
		return this.end.deferral();
	}

	private CompletableFuture<?> end() {
		LockContext.Binding bound = this.binding;
		if (bound != null) {
			bound.run();
		}
		this.ended = true;
		try {
			return this.lease.endHold();
		}
		finally {
			this.setAside.bringBack();
		}
	}

	@Override
	public String toString() {
		return "hold of lock '%s' (%s, token %s)".formatted(lock(), this.lease.terms(), fencingToken());
	}

}
