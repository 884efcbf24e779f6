package io.holdfast.lock.fencing;

import java.time.Duration;

import io.holdfast.lock.FencingToken;
import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;

/**
 * A hold for tests.
 *
 * @param lock the lock
 * @param mode exclusive or shared
 * @param ownerId the holder
 * @param fencingToken the token
 */
record TestHold(LockName lock, LockMode mode, String ownerId, FencingToken fencingToken) implements StillHeld {

	static TestHold of(String key, long token, String owner) {
		return new TestHold(LockName.of("stock", key), LockMode.EXCLUSIVE, owner, new FencingToken(token));
	}

	static TestHold reader(String key, long token, String owner) {
		return new TestHold(LockName.of("stock", key), LockMode.SHARED, owner, new FencingToken(token));
	}

	@Override
	public String backend() {
		return "redis";
	}

	@Override
	public Duration remainingValidity() {
		return Duration.ofSeconds(30);
	}

}
