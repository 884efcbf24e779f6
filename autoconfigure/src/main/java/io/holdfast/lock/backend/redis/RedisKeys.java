package io.holdfast.lock.backend.redis;

import java.util.List;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;

/**
 * The keys of one lock. What stands between the first braces decides the slot on a
 * cluster, and it is the same for all of them: a namespace and a name have no braces, and
 * if the key has some, they cut all alike.
 *
 * @param lock holds {@code owner:token} while one holds the lock alone
 * @param token holds the last token that was given
 * @param waiters holds the places of those who wait
 * @param readers holds {@code owner:token} of each who shares the lock
 */
record RedisKeys(String lock, String token, String waiters, String readers) {

	static RedisKeys of(String namespace, LockName name) {
		String stem = namespace + ":{" + name + "}:";
		return new RedisKeys(stem + "lock", stem + "token", stem + "waiters", stem + "readers");
	}

	List<Object> asList() {
		return List.of(this.lock, this.token, this.waiters, this.readers);
	}

	/**
	 * What Redis holds of a grant.
	 */
	static String value(Grant grant) {
		return grant.claim().owner() + ":" + grant.storeToken();
	}

}
