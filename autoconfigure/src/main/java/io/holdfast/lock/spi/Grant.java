package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * The answer of a store that grants a claim.
 *
 * @param claim the claim that was granted
 * @param storeToken the store's token: greater than that of every earlier grant of the
 * same lock, and the same if the same owner requests the lock again
 * @param lease the time for which the store keeps the lock, counted from when it received
 * the request; may differ from the requested time if the store has its own bounds
 * @param revoked completes, on any thread, if the backend learns without a request that
 * the lease is gone
 */
public record Grant(Claim claim, long storeToken, Duration lease, CompletionStage<?> revoked) {

	private static final CompletionStage<?> NEVER = new CompletableFuture<>().minimalCompletionStage();

	/**
	 * Creates a grant of a store that reports a loss only in answer to a request.
	 * @param claim the claim that was granted
	 * @param storeToken the store's token
	 * @param lease the time for which the store keeps the lock
	 */
	public Grant(Claim claim, long storeToken, Duration lease) {
		this(claim, storeToken, lease, NEVER);
	}

	/**
	 * Returns the same grant with another lease, for a store that renews by the lease
	 * time of the claim.
	 * @param lease the time for which the store keeps the lock
	 * @return the grant
	 */
	public Grant withLease(Duration lease) {
		return new Grant(this.claim.withLeaseTime(lease), this.storeToken, lease, this.revoked);
	}

	/**
	 * Returns whether the store can report the loss of the lease without a request.
	 * @return whether {@link #revoked()} can complete
	 */
	public boolean revocable() {
		return this.revoked != NEVER;
	}

}
