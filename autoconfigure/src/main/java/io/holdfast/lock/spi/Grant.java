package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * What a store gave to a claim.
 *
 * @param claim the claim that was granted
 * @param storeToken the store's token: greater than that of every earlier grant of the
 * same lock, and the same if the same owner asks again
 * @param lease how long the store keeps the lock from when it received the request; may
 * differ from what was asked, where the store has its own bounds
 * @param revoked completes, on any thread, if the store learns by itself that the lease
 * is gone
 */
public record Grant(Claim claim, long storeToken, Duration lease, CompletionStage<?> revoked) {

	private static final CompletionStage<?> NEVER = new CompletableFuture<>().minimalCompletionStage();

	/**
	 * A grant of a store that has no way to learn of a loss but to be asked.
	 * @param claim the claim that was granted
	 * @param storeToken the store's token
	 * @param lease how long the store keeps the lock
	 */
	public Grant(Claim claim, long storeToken, Duration lease) {
		this(claim, storeToken, lease, NEVER);
	}

	/**
	 * The same grant with another lease, for a store that renews by the lease time of the
	 * claim.
	 * @param lease how long the store keeps the lock
	 * @return the grant
	 */
	public Grant withLease(Duration lease) {
		return new Grant(this.claim.withLeaseTime(lease), this.storeToken, lease, this.revoked);
	}

	/**
	 * Whether the store may ever say by itself that the lease is gone.
	 * @return whether {@link #revoked()} can complete
	 */
	public boolean revocable() {
		return this.revoked != NEVER;
	}

}
