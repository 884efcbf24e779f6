package io.holdfast.lock.backend.redis;

import java.util.List;

import io.holdfast.lock.LockName;
import io.holdfast.lock.spi.Grant;

/**
 * The keys of one lock. What stands between the first braces decides the slot on a
 * cluster, and it is the same for all three: a namespace and a name have no braces, and
 * if the key has some, they cut all three alike.
 *
 * @param lock holds {@code owner:token} while the lock is held
 * @param token holds the last token that was given
 * @param waiters holds the places of those who wait
 */
record LockKeys(String lock, String token, String waiters) {

	static LockKeys of(String namespace, LockName name) {
		String stem = namespace + ":{" + name + "}:";
		return new LockKeys(stem + "lock", stem + "token", stem + "waiters");
	}

	List<Object> asList() {
		return List.of(this.lock, this.token, this.waiters);
	}

	/**
	 * What the key of a lock holds while the grant does.
	 */
	static String value(Grant grant) {
		return grant.claim().owner() + ":" + grant.storeToken();
	}

}
