package io.holdfast.lock.fencing;

import java.util.function.Supplier;

import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.StaleFencingTokenException;

/**
 * One holder at the fence of one lock.
 *
 * @param id the fence's identity: differs for every two locks, and for every two stores,
 * whose tokens cannot be compared
 * @param lock the lock
 * @param backend the store that granted it
 * @param token the holder's token
 * @param owner the holder
 * @param shared whether it is held together with others
 * @param diagnosis what to say besides if this holder is refused
 */
record FenceEntry(String id, LockName lock, String backend, long token, String owner, boolean shared,
		Supplier<String> diagnosis) {

	static FenceEntry of(String id, LockHandle hold) {
		return new FenceEntry(id, hold.name(), hold.backend(), hold.fencingToken().value(), hold.ownerId(),
				hold.mode() == LockMode.SHARED, hold::diagnosis);
	}

	/** The same fence before anybody has come. */
	FenceEntry asNobody() {
		return new FenceEntry(this.id, this.lock, this.backend, 0, "", this.shared, this.diagnosis);
	}

	/**
	 * Whether what the fence remembers lets this one pass. Among readers nobody overtakes
	 * anybody, so the fence remembers none of them.
	 */
	boolean passes(long seenToken, String seenOwner) {
		return seenToken < this.token || (seenToken == this.token && seenOwner.equals(this.owner));
	}

	StaleFencingTokenException refused(long seenToken) {
		return new StaleFencingTokenException(this.lock, this.backend,
				"%s: the fence has seen token %s of another holder, so this one was overtaken, by a pause or a lost lease. Nothing of it may be written, and its transaction is rolled back; repeat the call.%s"
					.formatted(this, seenToken, this.diagnosis.get()));
	}

	@Override
	public String toString() {
		return "Lock '%s' (store %s, token %s)".formatted(this.lock, this.backend, this.token);
	}

}
