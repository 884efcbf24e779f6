package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.LockException;
import io.holdfast.lock.LossCause;
import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.observation.AcquireOutcome;
import io.holdfast.lock.support.Failures;

/**
 * The attempts of one acquisition at the store: what they may have left there, and why
 * their outcome is unknown. Only its steps use it, unless a method says otherwise.
 */
final class Attempts {

	private final Acquisition acquisition;

	/** Created for the first attempt: a lease that is taken over needs none. */
	private volatile @Nullable Claim claim;

	/** Whether an operator has released the lock that the claim was granted. */
	private volatile boolean forcedOut;

	private int made;

	private @Nullable Attempt latest;

	/** Whether the store may hold state of the claim. */
	private boolean mayHaveLeftClaim;

	/** Number of attempts of unknown outcome since the last definite response. */
	private int unknown;

	Attempts(Acquisition acquisition) {
		this.acquisition = acquisition;
	}

	/**
	 * Returns the claim of the next attempt. All attempts carry the same owner id, so a
	 * lost response is requested again.
	 */
	private Claim claim(long now, Duration remainingWait) {
		Claim same = this.claim;
		if (same != null) {
			return same.withRemainingWait(remainingWait);
		}
		ResolvedRequest request = this.acquisition.request;
		EngineContext context = this.acquisition.context;
		EngineSettings settings = context.settings();
		return new Claim(request.lock(), context.ownerIds().next(now), request.mode(),
				settings.storeLease(request.leaseTime()), request.renew(), remainingWait, request.fair(),
				!settings.sticky().isZero() && request.mayShareLease());
	}

	/**
	 * Creates the next attempt.
	 * @param now the present time, or a slightly earlier one
	 * @throws LockException if the store must not be asked for more locks
	 */
	Attempt next(long now) {
		if (this.made == 0) {
			this.acquisition.context.retrier().requireConfirmations(this.acquisition.request);
		}
		Duration leftForRetries = leftForRetries();
		Claim sent = claim(now, leftForRetries);
		this.claim = sent;
		Attempt attempt = new Attempt(this.acquisition, now, sent, this.made == 0, !leftForRetries.isZero(),
				this.mayHaveLeftClaim);
		this.made++;
		this.latest = attempt;
		this.mayHaveLeftClaim = true;
		return attempt;
	}

	/**
	 * Returns how long to retry the next attempt; zero if it is the last one. The first
	 * one is made at once.
	 */
	private Duration leftForRetries() {
		if (this.made == 0 && !this.acquisition.refused) {
			return this.acquisition.request.waitTime();
		}
		return this.acquisition.mayRetry() ? this.acquisition.remaining() : Duration.ZERO;
	}

	int made() {
		return this.made;
	}

	boolean isLatest(Attempt attempt) {
		return attempt == this.latest;
	}

	/** Notes a grant; returns whether the latest attempt was answered before. */
	boolean noteEarlierGrant() {
		Attempt attempt = this.latest;
		if (attempt != null) {
			attempt.earlierGranted = true;
		}
		return attempt != null && attempt.processed;
	}

	/**
	 * Records that the store rejected the claim.
	 * @param keepsClaim whether the store may hold state of it for a retry
	 */
	void rejected(boolean keepsClaim) {
		this.unknown = 0;
		this.acquisition.lastUnknown = null;
		this.mayHaveLeftClaim = keepsClaim;
	}

	/**
	 * Records that an attempt failed permanently, or completed without a result. After an
	 * unexpected error, such as one of too little memory, the store may hold state.
	 */
	void failed(Attempt attempt, @Nullable Throwable failure) {
		this.mayHaveLeftClaim = !(failure instanceof LockException) || attempt.mayHaveLeftClaimBefore;
	}

	/**
	 * Records that the outcome of the latest attempt is unknown. A missing response never
	 * replaces a known cause. An attempt that was not sent, or cut short by the end of
	 * the wait, gives no cause, unless it was the first one.
	 * @return the number of unknown outcomes before this one
	 */
	int unknown(Throwable cause) {
		Throwable before = this.acquisition.lastUnknown;
		boolean tellsNothing = cause instanceof StoreResponses.NoAnswerException none
				&& (before != null || (!none.hadTime && this.made > 1));
		this.acquisition.lastUnknown = tellsNothing ? before : cause;
		end();
		return this.unknown++;
	}

	/** Whether the latest attempt failed because its thread was interrupted. */
	boolean wasInterrupted() {
		Throwable unknown = this.acquisition.lastUnknown;
		return unknown != null && isInterrupt(unknown);
	}

	/** Whether an outcome is unknown because a thread was interrupted. */
	static boolean isInterrupt(Throwable unknown) {
		return Failures.causes(unknown).anyMatch(InterruptedException.class::isInstance);
	}

	/**
	 * Returns the failure of a wait that has timed out if the store has not answered this
	 * caller, or another one before it. Returns {@code null} otherwise.
	 */
	@Nullable LockException storeFailure() {
		ResolvedRequest request = this.acquisition.request;
		Throwable unknown = this.acquisition.lastUnknown;
		if (unknown != null) {
			return AcquisitionFailures.unknown(request, this.made, unknown);
		}
		Throwable before = (this.made == 0) ? this.acquisition.unknownOutcomeBefore() : null;
		if (before == null) {
			return null;
		}
		// the callers behind this one fail for the same reason
		this.acquisition.lastUnknown = before;
		return AcquisitionFailures.unknownBefore(request, this.acquisition.elapsed(), before);
	}

	/**
	 * Stops waiting for the response to the latest attempt, and withdraws it unless it
	 * was sent.
	 * @return whether the store may hold state of the claim
	 */
	boolean end() {
		Attempt attempt = this.latest;
		if (attempt != null && attempt.withdraw()) {
			this.latest = null;
			this.mayHaveLeftClaim = attempt.mayHaveLeftClaimBefore;
		}
		return this.mayHaveLeftClaim;
	}

	/** Whether the claim has this owner id. Any thread may call this. */
	boolean haveOwner(String ownerId) {
		Claim sent = this.claim;
		return sent != null && sent.owner().value().equals(ownerId);
	}

	/**
	 * Ends the acquisition, because an operator releases the lock that the store has just
	 * granted it. If its lease starts at this moment, either {@link #outcome} loses it,
	 * or the caller finds it. Any thread may call this.
	 */
	void forceOut() {
		this.forcedOut = true;
		this.acquisition.run(() -> this.acquisition.giveUp(AcquireOutcome.INTERRUPTED,
				AcquisitionFailures.forcedOut(this.acquisition.request)));
	}

	/** Returns the outcome of the acquisition whose lease has started. */
	Outcome<Lease> outcome(Lease lease) {
		if (this.forcedOut) {
			lease.lose(LossCause.FORCED);
		}
		return AcquisitionFailures.unlessLost(lease);
	}

	/**
	 * Withdraws the claim; completes with the store's first response. The latest attempt
	 * may still grant the claim after it: a closing engine awaits that step, too.
	 */
	CompletableFuture<Void> withdraw() {
		Attempt attempt = this.latest;
		if (attempt != null && attempt.isSent() && !attempt.processed) {
			attempt.onAnswered = this.acquisition.context.retrier().unconfirmed().countUntilAnswered();
		}
		return abandon(ClosableHold.DONE);
	}

	private CompletableFuture<Void> abandon(CompletableFuture<?> quiet) {
		EngineContext context = this.acquisition.context;
		ResolvedRequest request = this.acquisition.request;
		return context.releases()
			.add(request, context.retrier().abandon(request.backend(), Objects.requireNonNull(this.claim), quiet));
	}

	/**
	 * Withdraws what an attempt may have left when its response arrives after the
	 * decision. Nothing is withdrawn while the lease from an earlier response keeps the
	 * lock, because both attempts have the same claim. The withdrawal follows the
	 * response to a release of that lease.
	 */
	void withdrawUnlessKept(Outcome<Lease> outcome, Attempt attempt, @Nullable AcquireResult result) {
		Lease lease = (outcome instanceof Outcome.Granted<Lease> granted) ? granted.value() : null;
		boolean kept = lease != null && lease.keepsLock();
		boolean leftNothing = result instanceof AcquireResult.Contended && !attempt.willRetry;
		if (!kept && !leftNothing) {
			abandon((lease != null) ? lease.store.end.settled() : ClosableHold.DONE);
		}
		attempt.onAnswered.run();
	}

}
