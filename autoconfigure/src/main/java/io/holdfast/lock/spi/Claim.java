package io.holdfast.lock.spi;

import java.time.Duration;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.LockState;

/**
 * The demand of one acquisition for a lock. Every attempt with the same owner id makes
 * the same claim, so an attempt finds the results of earlier ones.
 *
 * @param lock the lock
 * @param owner the owner that claims the lock
 * @param mode exclusive or shared
 * @param leaseTime the time for which the store keeps the lock without renewal, at most
 * {@link io.holdfast.lock.LockRequest#MAX_DURATION} and the lock delay, which has the
 * same limit
 * @param renew whether the holder will renew the lease. A store whose leases live with a
 * session may then rely on that session
 * @param remainingWait the time for which the claimant will still wait after a rejection;
 * zero if it will not retry. For a rejected claim with zero remaining wait, a store keeps
 * no state. It discards any other some time after that wait has elapsed, unless its
 * claims live with a session: the engine withdraws those
 * @param fair whether the claim must be granted in order of arrival
 * @param sticky whether the lease may stay with this instance while no hold uses it. A
 * backend that can tell the instance when another one demands the lease returns a
 * {@linkplain Grant#sticky() sticky} grant; any other backend ignores this
 */
public record Claim(LockName lock, OwnerId owner, LockMode mode, Duration leaseTime, boolean renew,
		Duration remainingWait, boolean fair, boolean sticky) {

	/**
	 * Creates a claim whose lease ends with its last hold.
	 * @param lock the lock
	 * @param owner the owner that claims the lock
	 * @param mode exclusive or shared
	 * @param leaseTime the time for which the store keeps the lock without renewal
	 * @param renew whether the holder will renew the lease
	 * @param remainingWait the time for which the claimant will still wait
	 * @param fair whether the claim must be granted in order of arrival
	 */
	public Claim(LockName lock, OwnerId owner, LockMode mode, Duration leaseTime, boolean renew, Duration remainingWait,
			boolean fair) {
		this(lock, owner, mode, leaseTime, renew, remainingWait, fair, false);
	}

	/**
	 * Returns a claim that stands for a holder of any instance, to end its lease.
	 * @param lock the lock
	 * @param holder the holder
	 * @param leaseTime the time for which the store would keep the lock
	 * @return the claim
	 */
	public static Claim heldBy(LockName lock, LockState.Holder holder, Duration leaseTime) {
		return new Claim(lock, new OwnerId(holder.ownerId()), holder.mode(), leaseTime, false, Duration.ZERO, false);
	}

	/**
	 * Returns the same claim for its next attempt.
	 * @param remainingWait the time for which the claimant will still wait
	 * @return the claim
	 */
	public Claim withRemainingWait(Duration remainingWait) {
		return new Claim(this.lock, this.owner, this.mode, this.leaseTime, this.renew, remainingWait, this.fair,
				this.sticky);
	}

	/**
	 * Returns the same claim with another lease.
	 * @param leaseTime the time for which the store keeps the lock without renewal
	 * @return the claim
	 */
	public Claim withLeaseTime(Duration leaseTime) {
		return new Claim(this.lock, this.owner, this.mode, leaseTime, this.renew, this.remainingWait, this.fair,
				this.sticky);
	}

}
