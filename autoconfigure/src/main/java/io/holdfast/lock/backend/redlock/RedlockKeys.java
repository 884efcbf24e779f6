package io.holdfast.lock.backend.redlock;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import io.holdfast.lock.LockName;

/**
 * The keys on each node.
 *
 * @param namespace prefix of every key
 */
record RedlockKeys(String namespace) {

	/** What the node knows of itself and of all locks. */
	String node() {
		return this.namespace + ":redlock";
	}

	String lock(LockName lock) {
		return this.namespace + ":{" + lock + "}:part";
	}

	List<Object> of(LockName lock) {
		return List.of(lock(lock), this.namespace + ":{" + lock + "}:part-token", node());
	}

	List<Object> ofProbe() {
		String stem = this.namespace + ":{probe:" + UUID.randomUUID() + "}:";
		return List.of(stem + "part", stem + "part-token", node());
	}

	/**
	 * What a memory without a name is called by, if this request is the first to see it.
	 */
	static String random() {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		return Long.toHexString(random.nextLong()) + Long.toHexString(random.nextLong());
	}

}
