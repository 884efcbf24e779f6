package io.holdfast.lock.spi;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.holdfast.lock.FencingToken;

/**
 * The answer of a store that grants a claim.
 *
 * @param claim the claim that was granted
 * @param storeToken the store's token, from 1 to 2<sup>53</sup> - 1: greater than that of
 * every earlier grant of the same lock, and the same if the same owner requests the lock
 * again
 * @param lease the time for which the store keeps the lock, counted from when it received
 * the request; may differ from the requested time if the store has its own bounds
 * @param revoked completes, on any thread, if the backend learns without a request that
 * the lease is gone
 * @param wanted completes, on any thread, when another claim waits for the lock or asks
 * for it. May complete spuriously. The lease may then stay idle no longer
 */
public record Grant(Claim claim, long storeToken, Duration lease, CompletionStage<?> revoked,
		CompletionStage<?> wanted) {

	/** Low-order bits of a fencing token, reserved for handoffs inside one JVM. */
	private static final int RESERVED_BITS = 10;

	private static final long MAX_STORE_TOKEN = Long.MAX_VALUE >> RESERVED_BITS;

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
	 * Creates a grant of a store that does not report the demand of other claims.
	 * @param claim the claim that was granted
	 * @param storeToken the store's token
	 * @param lease the time for which the store keeps the lock
	 * @param revoked completes if the backend learns without a request that the lease is
	 * gone
	 */
	public Grant(Claim claim, long storeToken, Duration lease, CompletionStage<?> revoked) {
		this(claim, storeToken, lease, revoked, NEVER);
	}

	/** Returns the grant of a claim, as it is known from the token of a hold. */
	static Grant heldBy(Claim claim, FencingToken token) {
		return new Grant(claim, token.value() >> RESERVED_BITS, claim.leaseTime());
	}

	/**
	 * Returns the fencing token of the first hold with this grant.
	 * @return the token
	 * @throws IllegalArgumentException if the store's token is out of range
	 */
	public FencingToken fencingToken() {
		return fencingToken(0);
	}

	/**
	 * Returns the fencing token of a hold with this grant. It is greater than that of
	 * every earlier hold.
	 * @param earlierHolds the number of earlier holds with this grant, less than 1024
	 * @return the token
	 * @throws IllegalArgumentException if the store's token or the number is out of range
	 */
	public FencingToken fencingToken(int earlierHolds) {
		if (earlierHolds < 0 || earlierHolds >> RESERVED_BITS != 0) {
			throw new IllegalArgumentException(earlierHolds + " earlier holds are more than a token can tell apart");
		}
		return new FencingToken(shifted(this.storeToken) | earlierHolds);
	}

	/**
	 * Returns the fencing token of the first hold with a token of a store.
	 * @param storeToken the store's token
	 * @return the token
	 * @throws IllegalArgumentException if the store's token is out of range
	 */
	public static FencingToken fencingTokenOf(long storeToken) {
		return new FencingToken(shifted(storeToken));
	}

	private static long shifted(long storeToken) {
		if (storeToken <= 0 || storeToken > MAX_STORE_TOKEN) {
			throw new IllegalArgumentException(
					"Store token " + storeToken + " is not between 1 and " + MAX_STORE_TOKEN);
		}
		return storeToken << RESERVED_BITS;
	}

	/**
	 * Returns the same grant with another lease, for a store that renews by the lease
	 * time of the claim.
	 * @param lease the time for which the store keeps the lock
	 * @return the grant
	 */
	public Grant withLease(Duration lease) {
		return new Grant(this.claim.withLeaseTime(lease), this.storeToken, lease, this.revoked, this.wanted);
	}

	/**
	 * Returns the same grant of a store that reports the demand of other claims.
	 * @param wanted completes when another claim waits for the lock or asks for it
	 * @return the grant
	 */
	public Grant withDemand(CompletionStage<?> wanted) {
		return new Grant(this.claim, this.storeToken, this.lease, this.revoked, wanted);
	}

	/**
	 * Returns whether the store can report the loss of the lease without a request.
	 * @return whether {@link #revoked()} can complete
	 */
	public boolean revocable() {
		return this.revoked != NEVER;
	}

	/**
	 * Returns whether the lease may stay with its instance while no hold uses it, because
	 * other instances can demand it.
	 * @return whether {@link #wanted()} can complete
	 */
	public boolean sticky() {
		return this.wanted != NEVER;
	}

}
