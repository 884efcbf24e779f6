package io.holdfast.lock.fencing;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockHandle;
import io.holdfast.lock.LockName;

/**
 * One hold that has passed. Further holds of the same lease are equal to it.
 *
 * @param backend the name of the backend
 * @param lock the lock
 * @param token the token
 * @param owner the owner id: the stores of two contexts may have the same name
 * @param database the database of the fence
 */
record PassedHold(String backend, LockName lock, FencingToken token, String owner, String database) {

	static PassedHold of(LockHandle hold, String database) {
		return new PassedHold(hold.backend(), hold.lock(), hold.fencingToken(), hold.ownerId(), database);
	}

	boolean isOfSameLock(PassedHold other) {
		return this.lock.equals(other.lock) && this.backend.equals(other.backend)
				&& this.database.equals(other.database);
	}

	boolean isLaterThan(PassedHold other) {
		return isOfSameLock(other) && this.token.compareTo(other.token) > 0;
	}

}
