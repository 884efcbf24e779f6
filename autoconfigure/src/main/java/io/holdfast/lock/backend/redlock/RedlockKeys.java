package io.holdfast.lock.backend.redlock;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

import io.holdfast.lock.LockMode;
import io.holdfast.lock.LockName;

/**
 * The keys of locks on each node.
 *
 * @param namespace prefix of every key
 */
record RedlockKeys(String namespace) {

	private static final String READERS = "-readers";

	private static final String WAITERS = "-waiters";

	/** Returns the key for the state of the node itself, which concerns all locks. */
	String node() {
		return this.namespace + ":redlock";
	}

	/** Returns the keys for scripts that grant a lock. */
	List<Object> of(LockName lock) {
		return all(stem(lock.id()));
	}

	/** Returns the keys under which a node may keep a claim. */
	List<Object> parts(LockName lock) {
		String stem = stem(lock.id());
		return List.of(stem, stem + READERS, stem + WAITERS);
	}

	/** Returns the key under which a node keeps a grant. */
	Object part(LockName lock, LockMode mode) {
		String stem = stem(lock.id());
		return (mode == LockMode.SHARED) ? stem + READERS : stem;
	}

	List<Object> ofProbe() {
		return all(stem("probe:" + UUID.randomUUID()));
	}

	private List<Object> all(String stem) {
		return List.of(stem, stem + "-token", node(), stem + READERS, stem + WAITERS);
	}

	private String stem(String lock) {
		return this.namespace + ":{" + lock + "}:part";
	}

	/**
	 * Returns a name for a memory without one, if this request is the first to see it.
	 */
	static String random() {
		ThreadLocalRandom random = ThreadLocalRandom.current();
		return Long.toHexString(random.nextLong()) + Long.toHexString(random.nextLong());
	}

}
