package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;

/**
 * One attempt: a request to the store, in one phase of the acquisition.
 */
final class Attempt extends StoreRequest {

	private final Acquisition acquisition;

	private final Claim claim;

	private final boolean first;

	/** The phase of the acquisition to which the attempt belongs. */
	final int phase;

	/**
	 * Whether the claim announces a retry after a rejection, so that the store may hold
	 * state of it.
	 */
	final boolean willRetry;

	/** Whether the store may have held state of the claim before this attempt. */
	final boolean mayHaveLeftClaimBefore;

	/** Whether a step of the acquisition has processed the response. */
	boolean processed;

	/** Whether an earlier attempt was granted while this one was the latest. */
	boolean earlierGranted;

	/** Runs after a response that arrives after the decision was processed. */
	Runnable onAnswered = () -> {
	};

	Attempt(Acquisition acquisition, long now, Claim claim, boolean first, boolean willRetry,
			boolean mayHaveLeftClaimBefore) {
		super(now);
		this.acquisition = acquisition;
		this.claim = claim;
		this.first = first;
		this.phase = acquisition.phase();
		this.willRetry = willRetry;
		this.mayHaveLeftClaimBefore = mayHaveLeftClaimBefore;
	}

	@Override
	long now() {
		return this.acquisition.time.nanos();
	}

	/** Sends the claim, unless a retry has waited for a thread past the deadline. */
	@Override
	CompletionStage<AcquireResult> call() {
		return (this.first || !this.acquisition.deadlineHasPassed())
				? this.acquisition.request.backend().tryAcquire(this.claim)
				: CompletableFuture.completedFuture(new AcquireResult.Indeterminate(StoreResponses.notSent()));
	}

}
