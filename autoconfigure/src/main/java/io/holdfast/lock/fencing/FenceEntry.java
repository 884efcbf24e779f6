package io.holdfast.lock.fencing;

import java.util.function.Supplier;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.StaleFencingTokenException;
import io.holdfast.lock.spi.ManagedHold;

/**
 * One holder at the fence of one lock.
 *
 * @param id the identity of the fence: different for every two locks, and for every two
 * stores, because their tokens cannot be compared
 * @param lock the lock
 * @param backend the name of the backend that granted the lock
 * @param token the holder's token
 * @param owner the holder's owner id
 * @param shared whether the lock is held in shared mode
 * @param diagnosis provides a hint for the message if this holder is rejected
 */
record FenceEntry(String id, LockName lock, String backend, long token, String owner, boolean shared,
		Supplier<String> diagnosis) {

	static FenceEntry of(String id, LockHandle hold) {
		return new FenceEntry(id, hold.lock(), hold.backend(), hold.fencingToken().value(), hold.ownerId(),
				hold.mode() == LockMode.SHARED, () -> ManagedHold.diagnosis(hold));
	}

	/**
	 * Returns an entry for the same fence before any holder has passed it. To some
	 * databases, an empty text would be NULL.
	 */
	FenceEntry withoutHolder() {
		return new FenceEntry(this.id, this.lock, this.backend, 0, "-", this.shared, this.diagnosis);
	}

	/**
	 * Returns whether this holder may pass, compared with the last holder that the fence
	 * has recorded. Readers do not make each other stale, so the fence records none of
	 * them.
	 */
	boolean passes(long seenToken, String seenOwner) {
		return seenToken < this.token || (seenToken == this.token && seenOwner.equals(this.owner));
	}

	StaleFencingTokenException refused(long seenToken) {
		return new StaleFencingTokenException(this.lock, this.backend,
				"%s: the fence has seen token %s of another holder, so this holder is stale, after a pause or a lost lease. It must not write, and a transaction around it is rolled back. Repeat the call.%s"
					.formatted(this, seenToken, this.diagnosis.get()));
	}

	@Override
	public String toString() {
		return "Lock '%s' (backend %s, token %s)".formatted(this.lock, this.backend, this.token);
	}

}
