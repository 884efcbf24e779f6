package io.holdfast.lock.backend.redis;

import java.util.List;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;

/**
 * The keys of one lock. On a Cluster, the text inside the first pair of braces decides
 * the slot, and it is the same in all of these keys. Namespaces and lock names contain no
 * braces. Braces in a lock key cut this text at the same position in every key.
 *
 * @param lock holds {@code owner:token} of the exclusive holder, and the channel of its
 * instance if the lease is sticky
 * @param token holds the last token granted
 * @param waiters holds the positions of the waiters
 * @param readers holds {@code owner:token} of each shared holder
 */
record RedisKeys(String lock, String token, String waiters, String readers) {

	static RedisKeys of(String namespace, LockName name) {
		String stem = namespace + ":{" + name.id() + "}:";
		return new RedisKeys(stem + "lock", stem + "token", stem + "waiters", stem + "readers");
	}

	List<Object> asList() {
		return List.of(this.lock, this.token, this.waiters, this.readers);
	}

	/** Returns the key that holds the grants of a mode. */
	String grants(LockMode mode) {
		return (mode == LockMode.SHARED) ? this.readers : this.lock;
	}

	/**
	 * Returns the value that identifies a grant in Redis.
	 */
	static String value(Grant grant) {
		return grant.claim().owner() + ":" + grant.storeToken();
	}

}
