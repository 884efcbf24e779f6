package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.UUID;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;

/**
 * Factory for claims with new, random owners. By default, a claim is exclusive, is not
 * renewed, and does not wait. Its lease is longer than any case runs.
 */
final class Claims {

	static final Duration LONG_LEASE = Duration.ofMinutes(1);

	private Claims() {
	}

	static LockName newLock() {
		return LockName.of("contract", UUID.randomUUID().toString());
	}

	static Claim exclusive(LockName lock) {
		return new Claim(lock, OwnerId.random(), LockMode.EXCLUSIVE, LONG_LEASE, false, Duration.ZERO, false);
	}

	static Claim shared(LockName lock) {
		return new Claim(lock, OwnerId.random(), LockMode.SHARED, LONG_LEASE, false, Duration.ZERO, false);
	}

	static Claim renewed(Claim claim) {
		return new Claim(claim.lock(), claim.owner(), claim.mode(), claim.leaseTime(), true, claim.remainingWait(),
				claim.fair(), claim.sticky());
	}

	/**
	 * Returns the claim with a remaining wait that no case exceeds, so the store keeps
	 * it.
	 */
	static Claim waiting(Claim claim) {
		return claim.withRemainingWait(LONG_LEASE);
	}

	static Claim fair(Claim claim) {
		return new Claim(claim.lock(), claim.owner(), claim.mode(), claim.leaseTime(), claim.renew(), LONG_LEASE, true,
				claim.sticky());
	}

	static Claim sticky(Claim claim) {
		return new Claim(claim.lock(), claim.owner(), claim.mode(), claim.leaseTime(), claim.renew(),
				claim.remainingWait(), claim.fair(), true);
	}

}
