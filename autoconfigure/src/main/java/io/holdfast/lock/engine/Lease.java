package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockLostEvent;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.Grant;
import io.holdfast.lock.spi.ReleaseResult;

/**
 * One grant of a store, from its beginning until it is given back or lost, and the holds
 * that share it.
 *
 * <p>
 * <em>Validity.</em> The holder believes in the lease for a little less time than the
 * store keeps it: counted from before the request left, and shorter by the lock-delay and
 * by an allowance for clocks that do not run at the same speed
 * ({@link EngineSettings#validity}). Every renewal starts it anew.
 *
 * <p>
 * <em>States.</em> {@code HELD} until the last hold ends ({@code ENDED}) or the lease is
 * lost ({@code LOST}); neither ever turns back. Whichever comes first decides, under the
 * lock of this object; listeners and the store are called outside of it.
 */
final class Lease {

	private final EngineContext context;

	private final ResolvedRequest terms;

	private final Grant grant;

	private final FencingToken token;

	private final long acquiredAt;

	private final ReentrantLock lock = new ReentrantLock();

	private volatile long validUntil;

	private volatile Duration length;

	private final RenewalSchedule schedule = new RenewalSchedule(this);

	private final Loss loss;

	private final QueueTicket ticket;

	private volatile int holds = 1;

	/**
	 * Whether its holder has ended and its {@code minHold} has not; whoever clears this
	 * goes on with the end of the lease.
	 */
	private final AtomicBoolean lingering = new AtomicBoolean();

	private final LeaseEnd end;

	Lease(EngineContext context, ResolvedRequest terms, Grant grant, long sentAt, QueueTicket ticket) {
		this.context = context;
		this.terms = terms;
		this.grant = grant;
		this.token = FencingToken.of(grant.storeToken(), 0);
		this.loss = new Loss(terms, this.token);
		this.ticket = ticket;
		this.end = new LeaseEnd(context, terms, grant);
		this.acquiredAt = context.time().nanos();
		this.length = context.settings().holderLease(grant.lease());
		this.validUntil = sentAt + context.settings().validity(grant.lease());
	}

	/** Begin to be watched, and to hear of the store's own news. */
	void begin() {
		this.context.registry().begin(this);
		this.context.watchdog().watch(this.schedule);
		if (this.grant.revocable()) {
			this.grant.revoked().whenComplete((news, failure) -> lose(LossCause.REVOKED));
		}
	}

	/**
	 * Add a hold of the same holder.
	 * @param minHold how long the lock must stay closed from now on, at least
	 * @return {@code false} if the lease has ended meanwhile
	 */
	boolean addHold(Duration minHold) {
		this.lock.lock();
		try {
			if (this.holds == 0) {
				return false;
			}
			this.holds++;
			this.end.notWithin(minHold);
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * End one hold, and with the last one the lease; completes with the store's answer.
	 */
	CompletableFuture<?> endHold() {
		boolean lingers;
		this.lock.lock();
		try {
			if (--this.holds > 0) {
				return CompletableFuture.completedFuture(null);
			}
			lingers = !this.loss.happened() && this.end.remainingNanos() > 0;
			this.lingering.set(lingers);
		}
		finally {
			this.lock.unlock();
		}
		long now = this.context.time().nanos();
		this.context.observer()
			.released(this.terms.lock(), backendName(), Duration.ofNanos(now - this.acquiredAt), length());
		if (lingers) {
			this.context.registry().changed();
			this.context.time().after(this.end.remainingNanos(), this::releaseIfLingering);
			return CompletableFuture.completedFuture(null);
		}
		return release();
	}

	private void releaseIfLingering() {
		if (this.lingering.compareAndSet(true, false)) {
			release();
		}
	}

	/** Leaves the census last: an engine that closes waits for the release until then. */
	private CompletableFuture<?> release() {
		CompletableFuture<?> quiet = this.context.watchdog().unwatch(this.schedule);
		CompletableFuture<?> answered = this.loss.happened() ? CompletableFuture.completedFuture(null) : release(quiet);
		this.context.registry().end(this);
		return answered;
	}

	private CompletableFuture<?> release(CompletableFuture<?> quiet) {
		this.ticket.leaving();
		return this.end.release(quiet).handle((answer, failure) -> {
			if (answer instanceof ReleaseResult.NotHeld) {
				lose(LossCause.REFUSED, true);
			}
			this.ticket.leave();
			return null;
		});
	}

	/** Not to be watched or counted any more; completes when no renewal is under way. */
	private CompletableFuture<?> leaveCare() {
		CompletableFuture<?> quiet = this.context.watchdog().unwatch(this.schedule);
		this.context.registry().end(this);
		return quiet;
	}

	/**
	 * The store has begun the lease anew, perhaps a shorter one: its latest word counts.
	 * The validity ends if the lock-delay takes it all.
	 */
	void extended(long sentAt, Duration lease) {
		boolean usable = this.context.settings().isUsable(lease);
		this.length = usable ? this.context.settings().holderLease(lease) : this.length;
		this.validUntil = usable ? sentAt + this.context.settings().validity(lease) : sentAt;
	}

	/**
	 * The lease is no longer to be relied on. The first cause stands; once it is given
	 * back there is nothing to lose any more.
	 */
	void lose(LossCause cause) {
		lose(cause, false);
	}

	private void lose(LossCause cause, boolean evenIfGivenBack) {
		Consumer<Consumer<LockLostEvent>> telling;
		this.lock.lock();
		try {
			boolean released = this.holds == 0 && !this.lingering.get();
			if (this.loss.happened() || (released && !evenIfGivenBack)) {
				return;
			}
			telling = this.loss.declare(cause);
		}
		finally {
			this.lock.unlock();
		}
		CompletableFuture<?> quiet = leaveCare();
		this.end.lost(cause, quiet);
		this.ticket.leave();
		telling.accept(this.context.observer()::lost);
	}

	void onLost(Consumer<LockLostEvent> listener) {
		Runnable telling;
		this.lock.lock();
		try {
			telling = this.loss.add(listener);
		}
		finally {
			this.lock.unlock();
		}
		telling.run();
	}

	/** Why the lease can no longer be relied on, or {@code null} while it can. */
	@Nullable String lossMessage() {
		if (this.loss.happened() || this.context.time().nanos() < this.validUntil) {
			return this.loss.message();
		}
		return "The validity of lock '%s' has run out (%s, token %s).".formatted(this.terms.lock(), this.terms,
				this.token);
	}

	boolean lost() {
		return this.loss.happened();
	}

	/** Whether the store keeps the lock for a holder, a minHold or the lock-delay. */
	boolean keepsLock() {
		return !this.end.hasBegun();
	}

	/** Whether a body relies on this lease. */
	boolean inUse() {
		return this.holds > 0 && !this.loss.happened();
	}

	/** Whether a closing engine waits: for its body, and until its release is sent. */
	boolean delaysClosing() {
		return !this.lingering.get() && !this.loss.happened();
	}

	/**
	 * Take the lease from bodies that still run, and give it back, or have the store keep
	 * it for the rest of its minHold.
	 */
	void endAtShutdown() {
		if (inUse()) {
			lose(LossCause.SHUTDOWN);
			return;
		}
		CompletableFuture<?> quiet = leaveCare();
		if (this.lingering.compareAndSet(true, false)) {
			this.end.retain(quiet, Duration.ZERO);
			this.ticket.leave();
		}
	}

	Duration remainingValidity() {
		long nanos = this.loss.happened() ? 0 : this.validUntil - this.context.time().nanos();
		return Duration.ofNanos(Math.max(0, nanos));
	}

	/** What of the store's lease is the holder's. */
	Duration length() {
		return this.length;
	}

	long acquiredAt() {
		return this.acquiredAt;
	}

	long validUntil() {
		return this.validUntil;
	}

	Grant grant() {
		return this.grant;
	}

	ResolvedRequest terms() {
		return this.terms;
	}

	String ownerId() {
		return this.grant.claim().owner().value();
	}

	FencingToken token() {
		return this.token;
	}

	String backendName() {
		return this.terms.backend().name();
	}

}
