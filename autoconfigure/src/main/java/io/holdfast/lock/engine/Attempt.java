package io.holdfast.lock.engine;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.AcquireResult;

/**
 * One attempt of an acquisition at the store.
 *
 * @param phase the phase of the acquisition to which the attempt belongs
 * @param willRetry whether the claim announces a retry after a rejection, so that the
 * store may hold state of it
 * @param mayHaveLeftClaimBefore whether the store may have held state of the claim before
 * this attempt
 * @param request the request
 */
record Attempt(int phase, boolean willRetry, boolean mayHaveLeftClaimBefore, StoreRequest<AcquireResult> request) {

	/**
	 * Stops waiting for the response to an attempt, and withdraws it unless it was sent.
	 * @param attempt the attempt, or {@code null} if there was none
	 * @param mayHaveLeftClaim whether the store may hold state of the claim if the
	 * attempt was sent
	 * @return whether the store may hold state of the claim
	 */
	static boolean end(@Nullable Attempt attempt, boolean mayHaveLeftClaim) {
		return (attempt != null && attempt.request().withdraw()) ? attempt.mayHaveLeftClaimBefore() : mayHaveLeftClaim;
	}

}
