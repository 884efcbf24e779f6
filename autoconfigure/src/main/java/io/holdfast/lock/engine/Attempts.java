package io.holdfast.lock.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;
import io.holdfast.lock.support.SchedulingClock;

/**
 * The attempts of one acquisition at the store: what they may have left there, and why
 * their outcome is unknown. Only steps of the acquisition use it.
 */
final class Attempts {

	private final ReleaseRetrier retrier;

	private final SchedulingClock time;

	private final ResolvedRequest request;

	private final Duration lease;

	/** Created for the first attempt: a lease that is taken over needs none. */
	private @Nullable Claim claim;

	private int made;

	private @Nullable Attempt latest;

	/** Whether the store may hold state of the claim. */
	private boolean mayHaveLeftClaim;

	/** Number of attempts of unknown outcome since the last definite response. */
	private int unknown;

	private @Nullable Throwable lastUnknown;

	Attempts(EngineContext context, ResolvedRequest request) {
		this.retrier = context.retrier();
		this.time = context.time();
		this.request = request;
		this.lease = context.settings().storeLease(request.leaseTime());
	}

	/**
	 * Returns the claim of the next attempt. All attempts carry the same owner id, so a
	 * lost response is requested again.
	 */
	Claim claim(Duration remainingWait) {
		Claim same = this.claim;
		this.claim = (same != null) ? same.withRemainingWait(remainingWait)
				: new Claim(this.request.lock(), OwnerId.random(), this.request.mode(), this.lease,
						this.request.renew(), remainingWait, this.request.fair());
		return this.claim;
	}

	/**
	 * Adds the next attempt.
	 * @param phase the phase of the acquisition to which it belongs
	 * @param willRetry whether its claim announces a retry
	 */
	Attempt next(int phase, boolean willRetry, StoreRequest<AcquireResult> storeRequest) {
		Attempt attempt = new Attempt(phase, willRetry, this.mayHaveLeftClaim, storeRequest);
		this.made++;
		this.latest = attempt;
		this.mayHaveLeftClaim = true;
		return attempt;
	}

	int made() {
		return this.made;
	}

	boolean isLatest(Attempt attempt) {
		return attempt == this.latest;
	}

	/**
	 * Records that the store rejected the claim.
	 * @param keepsClaim whether the store may hold state of it for a retry
	 */
	void rejected(boolean keepsClaim) {
		this.unknown = 0;
		this.lastUnknown = null;
		this.mayHaveLeftClaim = keepsClaim;
	}

	/** Records that an attempt failed permanently, or completed without a result. */
	void failed(Attempt attempt, @Nullable Throwable failure) {
		this.mayHaveLeftClaim = failure == null || attempt.mayHaveLeftClaimBefore();
	}

	/**
	 * Records that the outcome of the latest attempt is unknown. A missing response never
	 * replaces a known cause. An attempt that was not sent gives no cause, unless it was
	 * the first one.
	 * @return the number of unknown outcomes before this one
	 */
	int unknown(Throwable cause) {
		boolean tellsNothing = cause instanceof StoreResponses.NoAnswerException none
				&& (this.lastUnknown != null || (!none.sent && this.made > 1));
		this.lastUnknown = tellsNothing ? this.lastUnknown : cause;
		end();
		return this.unknown++;
	}

	/** Returns why the outcome is unknown, or {@code null} if it is known. */
	@Nullable Throwable lastUnknown() {
		return this.lastUnknown;
	}

	/**
	 * Stops waiting for the response to the latest attempt, and withdraws it unless it
	 * was sent.
	 * @return whether the store may hold state of the claim
	 */
	boolean end() {
		Attempt attempt = this.latest;
		if (attempt != null && attempt.storeRequest().withdraw()) {
			this.mayHaveLeftClaim = attempt.mayHaveLeftClaimBefore();
		}
		return this.mayHaveLeftClaim;
	}

	/** Withdraws the claim; completes with the store's first response. */
	CompletableFuture<Void> withdraw() {
		return this.retrier.abandon(this.request.backend(), Objects.requireNonNull(this.claim),
				this.time.nanos() + this.lease.toNanos());
	}

	/**
	 * Withdraws what an attempt may have left when its response arrives after the
	 * decision. Nothing is withdrawn while the lease from an earlier response keeps the
	 * lock, because both attempts have the same claim.
	 * @param lease that lease, or {@code null} if there is none
	 */
	void withdrawUnlessKept(@Nullable Lease lease, Attempt attempt, @Nullable AcquireResult result) {
		boolean kept = lease != null && lease.keepsLock();
		boolean leftNothing = result instanceof AcquireResult.Contended && !attempt.willRetry();
		if (!kept && !leftNothing) {
			withdraw();
		}
	}

	/**
	 * One attempt.
	 *
	 * @param phase the phase of the acquisition to which the attempt belongs
	 * @param willRetry whether the claim announces a retry after a rejection, so that the
	 * store may hold state of it
	 * @param mayHaveLeftClaimBefore whether the store may have held state of the claim
	 * before this attempt
	 * @param storeRequest the request to the store
	 */
	record Attempt(int phase, boolean willRetry, boolean mayHaveLeftClaimBefore,
			StoreRequest<AcquireResult> storeRequest) {

	}

}
