package io.holdfast.lock.engine;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LossCause;

/**
 * The time for which a lease stays in this JVM while no hold uses it, unless another
 * instance demands the lock.
 *
 * <p>
 * It starts again with the end of each hold. It never exceeds the first half of the
 * validity, so an idle lease needs no renewal. One lease time after the grant, the lease
 * stays no longer: if the demand of another instance is lost, that instance waits for a
 * limited time.
 *
 * <p>
 * A hold of a sticky lease sets no timer of its own: a timer that finds a later end sets
 * the next one. Thread-safe.
 */
final class StickyTime {

	/** News that arrive later after a hold are not about that hold. */
	private static final long LATEST_NEWS_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	private final StoreLease lease;

	private final EngineContext context;

	private final AtomicBoolean timerSet = new AtomicBoolean();

	private volatile @Nullable Runnable cancelTimer;

	private volatile long until;

	private volatile boolean wanted;

	private volatile long idleSince;

	/** The number of holders before the lease was idle, or zero. */
	private volatile int idleAfter;

	StickyTime(StoreLease lease, EngineContext context) {
		this.lease = lease;
		this.context = context;
	}

	/**
	 * Listens for the demand of other instances, which may be due to a forced release.
	 */
	void listen() {
		this.lease.grant().wanted().whenComplete((news, failure) -> {
			this.wanted = true;
			this.lease.endIfIdle();
			boolean takenOver = this.lease.holders > 1;
			if (takenOver) {
				this.context.watchdog().renewNow(this.lease.schedule);
			}
		});
	}

	/** Whether the lease may stay after a hold. */
	boolean mayStart() {
		return !this.wanted && this.lease.holders < EngineSettings.Handoff.MOST_HOLDS
				&& this.context.time().nanos() - this.lease.grantedAt < this.lease.validity().kept().toNanos();
	}

	/** The lease is idle from now on. It is released if it is wanted meanwhile. */
	void start() {
		this.idleSince = this.context.time().nanos();
		this.idleAfter = this.lease.holders;
		this.until = Math.min(this.context.time().nanos() + this.context.settings().sticky().toNanos(),
				this.lease.validity().freshUntil());
		endInTime();
		if (this.wanted) {
			this.lease.endIfIdle();
		}
	}

	/**
	 * Whether the store may have ended the idle lease since its last hold: it has
	 * expired, or another instance has released it by force. A demand shows that the
	 * store kept it until then.
	 * @param cause the cause of the end, or {@code null} if none is known
	 */
	boolean mayBeGone(@Nullable LossCause cause) {
		long now = this.context.time().nanos();
		boolean unused = this.lease.holders == this.idleAfter && now - this.idleSince >= LATEST_NEWS_NANOS;
		return now >= this.lease.validUntil() || (unused && (this.wanted || cause == LossCause.REVOKED));
	}

	private void endInTime() {
		long left = this.until - this.context.time().nanos();
		if (left <= 0) {
			this.lease.endIfIdle();
		}
		else if (this.timerSet.compareAndSet(false, true)) {
			this.cancelTimer = this.context.time().after(left, this::onTimer);
		}
	}

	/** Releases an idle lease whose time is over, or sets the next timer. */
	private void onTimer() {
		// first, so that a hold that ends now either sets a timer or is seen below
		this.timerSet.set(false);
		if (this.lease.isIdle()) {
			endInTime();
		}
	}

	void cancel() {
		Runnable cancel = this.cancelTimer;
		if (cancel != null) {
			cancel.run();
		}
	}

}
