package io.holdfast.lock.engine;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.AcquireResult;

/**
 * One request of an acquisition to the store.
 *
 * @param phase the phase of the acquisition that it belongs to
 * @param willRetry whether the store was told that the claim is repeated if refused, and
 * may therefore keep something of it
 * @param mayHaveLeftClaimBefore whether the store might have kept something before
 * @param request the request
 */
record Attempt(int phase, boolean willRetry, boolean mayHaveLeftClaimBefore, StoreRequest<AcquireResult> request) {

	/**
	 * Stops waiting for the answer to an attempt, and withdraws it unless it was sent.
	 * @param attempt the attempt, if there was one
	 * @param mayHaveLeftClaim whether the store may keep something of the claim if it was sent
	 * @return whether the store may keep something of the claim
	 */
	static boolean end(@Nullable Attempt attempt, boolean mayHaveLeftClaim) {
		return (attempt != null && attempt.request().withdraw()) ? attempt.mayHaveLeftClaimBefore() : mayHaveLeftClaim;
	}

}
