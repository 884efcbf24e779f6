package io.holdfast.lock.test.contract;

import java.time.Duration;
import java.util.UUID;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Claim;
import io.holdfast.lock.spi.OwnerId;

/**
 * Claims of owners that nobody has seen before. Unless said otherwise they are exclusive,
 * not renewed, without patience, and of a lease that no case outlives.
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

	static Claim lasting(Duration lease, Claim claim) {
		return new Claim(claim.lock(), claim.owner(), claim.mode(), lease, claim.renewed(), claim.patience(),
				claim.fair());
	}

	static Claim renewed(Claim claim) {
		return new Claim(claim.lock(), claim.owner(), claim.mode(), claim.leaseTime(), true, claim.patience(),
				claim.fair());
	}

	/** The claim of one who waits, and who is not forgotten while a case runs. */
	static Claim patient(Claim claim) {
		return claim.withPatience(LONG_LEASE);
	}

	static Claim fair(Claim claim) {
		return new Claim(claim.lock(), claim.owner(), claim.mode(), claim.leaseTime(), claim.renewed(), LONG_LEASE,
				true);
	}

}
