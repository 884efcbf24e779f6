package io.holdfast.lock.engine;

import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;

import io.holdfast.lock.spi.AcquireResult;
import io.holdfast.lock.spi.Claim;

/**
 * Withdraws the state that the attempts of one acquisition may have left at the store.
 */
final class Withdrawal {

	private final EngineContext context;

	private final ResolvedRequest terms;

	private final Claim claim;

	Withdrawal(EngineContext context, ResolvedRequest terms, Claim claim) {
		this.context = context;
		this.terms = terms;
		this.claim = claim;
	}

	/** Withdraws the claim; completes with the store's first response. */
	CompletableFuture<Void> send() {
		long leaseEnds = this.context.time().nanos() + this.claim.leaseTime().toNanos();
		return this.context.retrier().abandon(this.terms.backend(), this.claim, leaseEnds);
	}

	/**
	 * Withdraws what an attempt may have left when its response arrives after the
	 * decision. Nothing is withdrawn while the lease from an earlier response keeps the
	 * lock, because both attempts have the same claim.
	 * @param lease that lease, or {@code null} if there is none
	 */
	void sendUnlessKept(@Nullable Lease lease, Attempt attempt, @Nullable AcquireResult result) {
		boolean kept = lease != null && lease.keepsLock();
		boolean leftNothing = result instanceof AcquireResult.Contended && !attempt.willRetry();
		if (!kept && !leftNothing) {
			send();
		}
	}

}
