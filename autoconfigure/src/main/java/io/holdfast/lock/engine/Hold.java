package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockBackendException;
import io.holdfast.lock.LockContext;
import io.holdfast.lock.LockException;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LockLostException;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.TransactionBoundary.SetAside;
import io.holdfast.lock.spi.observation.LockObservation;
import io.holdfast.lock.support.DurationText;

/** One use of a lease by its holder. Reentrant holds share the lease. */
final class Hold extends ClosableHold implements HeldLocks {

	private static final String COMMIT_REFUSED = " The commit was refused and the transaction is rolled back, so it wrote nothing. Repeat the call.";

	private final Lease lease;

	private final boolean reentrant;

	/** The {@code minHold} of a re-entry. */
	private final Duration minHold;

	private volatile LockContext.@Nullable Binding binding;

	private int depth;

	volatile boolean userManaged;

	private volatile boolean ended;

	private volatile boolean listened;

	/** Whether a commit was verified, so that a later loss is harmless. */
	private volatile boolean committed;

	private volatile @Nullable SetAside setAside;

	Hold(Lease lease, Rules rules) {
		this(lease, rules, false, Duration.ZERO);
	}

	private Hold(Lease lease, Rules rules, boolean reentrant, Duration minHold) {
		super(rules);
		this.lease = lease;
		this.reentrant = reentrant;
		this.minHold = minHold;
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
		this.lease.store.binding = bound;
		if (!this.reentrant && this.lease.request().interruptsOnLoss(this.lease.context().settings())) {
			this.lease.onLost(bound, (event) -> bound.interruptIfAny(HeldLocks.of(this.lease)));
		}
		defer();
		return this;
	}

	int depth() {
		return this.depth;
	}

	/**
	 * Re-enters the lock.
	 * @param minHold the minimum time for which the lock must stay closed, from
	 * {@link #startMinHold} on
	 * @return another hold of the same lease, or {@code null} if the lease has ended
	 */
	@Nullable Hold reenter(Duration minHold) {
		requireHeld(" It cannot be re-entered. Let this call fail, verify what it did, and repeat it.");
		return this.lease.addHold() ? new Hold(this.lease, this.rules, true, minHold) : null;
	}

	/**
	 * Starts the {@code minHold} of a re-entry, when its whole request has succeeded. A
	 * request that fails must not keep the lock of the outer hold closed.
	 */
	Hold startMinHold() {
		if (!this.minHold.isZero()) {
			this.lease.keepClosedFor(this.minHold);
		}
		return this;
	}

	@Override
	public void requireHeldAtStart() {
		requireHeld(
				" This happened before the call started, so it did nothing and holds no lock. Repeat it. If it waited for other locks of the request meanwhile, use 'renew = true', or a lease that is longer than the wait.");
	}

	Lease lease() {
		return this.lease;
	}

	boolean belongsTo(EngineContext engine) {
		return this.lease.context() == engine;
	}

	@Override
	public HeldLocks userManaged() {
		this.userManaged = true;
		return this;
	}

	@Override
	public void setAside(SetAside setAside) {
		if (setAside != SetAside.NOTHING) {
			this.setAside = setAside;
		}
	}

	private SetAside setAside() {
		SetAside present = this.setAside;
		return (present != null) ? present : SetAside.NOTHING;
	}

	@Override
	public LockObservation.Scope openScope() {
		return this.reentrant ? LockObservation.Scope.NONE : this.lease.openScope();
	}

	@Override
	public String diagnosis() {
		if (!this.userManaged || !isBoundHere()) {
			return "";
		}
		return " It was acquired in code by this thread ('%s') %s ago and is not closed yet. If that code has returned, the lock remains on the thread and fails every later transaction: close its handle, preferably with try-with-resources."
			.formatted(Thread.currentThread().getName(),
					DurationText.ofNanos(this.lease.context().time().nanos() - this.lease.acquiredAt()));
	}

	@Override
	public LockName lock() {
		return this.lease.request().lock();
	}

	@Override
	public String backend() {
		return this.lease.backendName();
	}

	@Override
	public LockMode mode() {
		return this.lease.request().mode();
	}

	@Override
	public String ownerId() {
		return this.lease.grant().claim().owner().value();
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
		return !this.ended && this.lease.lossMessage() == null;
	}

	@Override
	public void verify(Checkpoint checkpoint) {
		switch (checkpoint) {
			case NOW ->
				requireValid(" What this call did may overlap with another holder's work. Verify it, then repeat it.",
						" It is not known to be lost. Check again, or undo what this call did and repeat it.");
			case COMMIT -> verifyAtCommit();
			// also if the body itself has released the lock
			case RETURN -> verifyUnlessCommitted(this.lease.lossMessage(), setAside());
			case RELEASED ->
				verifyUnlessCommitted(this.lease.lost() ? this.lease.lossMessage() : null, SetAside.NOTHING);
		}
	}

	private void verifyAtCommit() {
		try {
			requireValid(COMMIT_REFUSED, COMMIT_REFUSED);
		}
		catch (LockException ex) {
			this.lease.context().observer().commitRefused(lock(), backend());
			throw ex;
		}
		setAside().requireUnchanged(lock());
		this.committed = true;
	}

	private void verifyUnlessCommitted(@Nullable String lost, SetAside unchanged) {
		if (this.committed) {
			return;
		}
		if (lost != null) {
			throw new LockLostException(lock(), backend(), lost
					+ " No commit was checked for it, so what this call read may be out of date, and what it wrote may overlap with another holder's work. Verify it before repeating it.");
		}
		unchanged.requireUnchanged(lock());
	}

	private void requireValid(String ifLost, String ifInDoubt) {
		Throwable doubt = isHeld() ? Confirmation.await(this.lease) : null;
		requireHeld(ifLost);
		if (doubt != null) {
			throw new LockBackendException(lock(), backend(),
					"Lock '%s' is in doubt: backend %s cannot confirm it (%s; %s, token %s).".formatted(lock(),
							backend(), doubt, this.lease.request(), fencingToken()) + ifInDoubt,
					doubt);
		}
	}

	private void requireHeld(String remedy) {
		boolean released = this.ended;
		String problem = released ? "Lock '%s' was already released (%s, token %s).".formatted(lock(),
				this.lease.request(), fencingToken()) : this.lease.lossMessage();
		if (problem != null) {
			String prevention = released ? "" : this.lease.prevention();
			throw new LockLostException(lock(), backend(), problem + remedy + prevention + diagnosis());
		}
	}

	@Override
	public void onLost(Consumer<LockLostEvent> listener) {
		this.listened = true;
		this.lease.onLost(this, (event) -> {
			if (!this.ended || this.lease.hasEnded()) {
				listener.accept(event);
			}
		});
	}

	@Override
	public void close() {
		if (!isBoundHere()) {
			release();
			return;
		}
		IdleWait.join(CallerRequests.close(this.lease.request().backend(), this::release));
	}

	@Override
	public CompletableFuture<?> discard() {
		if (!this.reentrant) {
			this.lease.store.end.keepClosedNoLonger();
		}
		return endUnused();
	}

	boolean isBoundHere() {
		LockContext.Binding bound = this.binding;
		return bound != null && bound.isCurrent();
	}

	@Override
	CompletableFuture<?> end() {
		LockContext.Binding bound = this.binding;
		if (bound != null) {
			bound.run();
		}
		this.ended = true;
		try {
			return this.lease.endHold();
		}
		finally {
			if (this.listened && !this.lease.hasEnded()) {
				this.lease.forget(this);
			}
			setAside().restore();
		}
	}

	@Override
	public String toString() {
		return "hold of lock '%s' (%s, token %s)".formatted(lock(), this.lease.request(), fencingToken());
	}

}
