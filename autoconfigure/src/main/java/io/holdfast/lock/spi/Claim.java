package io.holdfast.lock.spi;

import java.time.Duration;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;

/**
 * One acquisition's demand for a lock. It is the same claim in every attempt that carries
 * its owner id: whatever an earlier attempt achieved, the next one finds.
 *
 * @param lock the lock
 * @param owner who claims it
 * @param mode alone or shared
 * @param leaseTime how long the store is to keep the lock without renewal
 * @param renewed whether the holder will renew the lease. A store whose leases live with
 * a session may then lean on that session
 * @param patience how long the claimant will still wait if it is refused; zero if it will
 * not come back. A store keeps nothing of a refused claim without patience, and forgets
 * one with patience some time after it has run out, unless its claims live with a
 * session: the engine withdraws those
 * @param fair whether the claim must be granted in the order of its arrival
 */
public record Claim(LockName lock, OwnerId owner, LockMode mode, Duration leaseTime, boolean renewed, Duration patience,
		boolean fair) {

	/**
	 * The same claim for its next attempt.
	 * @param patience how long the claimant will still wait
	 * @return the claim
	 */
	public Claim withPatience(Duration patience) {
		return new Claim(this.lock, this.owner, this.mode, this.leaseTime, this.renewed, patience, this.fair);
	}

	/**
	 * The same claim with another lease.
	 * @param leaseTime how long the store is to keep the lock without renewal
	 * @return the claim
	 */
	public Claim withLeaseTime(Duration leaseTime) {
		return new Claim(this.lock, this.owner, this.mode, leaseTime, this.renewed, this.patience, this.fair);
	}

}
